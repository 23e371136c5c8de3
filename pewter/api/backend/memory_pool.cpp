#include <pewter/memory.h>
#include <pewter/memory_pool.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/block.h"

namespace pewter::backend {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;

/// What the pool was told.
struct Settings {
  std::mutex mutex;  // guards the members below
  bool enabled = true;
  /// Bytes; nothing stands for the allocator's own limit.
  std::optional<std::size_t> limit;
  /// The allocator's own limit, known once the pool has put another in its place.
  std::optional<std::size_t> original;

  static Settings& instance() {
    static Settings settings;
    return settings;
  }

  /// Puts in force what the members say.
  void apply() {
    if (enabled && !limit) {
      if (original) {
        pewter::set_cache_limit(*original);
        original.reset();
      }
      return;
    }
    const std::size_t before = pewter::set_cache_limit(enabled ? *limit : 0);
    if (!original) {
      original = before;
    }
    if (!enabled) {
      pewter::clear_cache();
    }
  }
};

}  // namespace

MemoryPool& MemoryPool::instance() {
  static MemoryPool pool;
  return pool;
}

void MemoryPool::enable() {
  Settings& settings = Settings::instance();
  const std::scoped_lock lock(settings.mutex);
  settings.enabled = true;
  settings.apply();
}

void MemoryPool::disable() {
  Settings& settings = Settings::instance();
  const std::scoped_lock lock(settings.mutex);
  settings.enabled = false;
  settings.apply();
}

bool MemoryPool::enabled() const {
  Settings& settings = Settings::instance();
  const std::scoped_lock lock(settings.mutex);
  return settings.enabled;
}

PoolStatistics MemoryPool::get_stats() const {
  PoolStatistics statistics;
  statistics.used_bytes = get_active_memory();
  statistics.total_bytes = statistics.used_bytes + get_cache_memory();
  runtime::allocator().for_each_block([&](runtime::Block& block) {
    statistics.n_free_blocks += block.state == runtime::BlockState::Cached ? 1 : 0;
  });
  return statistics;
}

void MemoryPool::free_all_blocks() {
  clear_cache();
}

void MemoryPool::set_limit(std::optional<std::size_t> size_mb) {
  Settings& settings = Settings::instance();
  const std::scoped_lock lock(settings.mutex);
  settings.limit.reset();
  if (size_mb) {
    // More than there is memory is as good as no limit.
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
    settings.limit = std::min(*size_mb, kMost / kMebibyte) * kMebibyte;
  }
  settings.apply();
}

MemoryPool& get_memory_pool() {
  return MemoryPool::instance();
}

MemoryPool& configure_memory_pool(std::size_t /*initial_size_mb*/,
                                  std::optional<std::size_t> max_size_mb,
                                  bool enable) {
  MemoryPool& pool = MemoryPool::instance();
  pool.set_limit(max_size_mb);
  if (enable) {
    pool.enable();
  } else {
    pool.disable();
  }
  return pool;
}

}  // namespace pewter::backend
