#pragma once

#include <pewter/export.h>

#include <cstddef>
#include <optional>

namespace pewter::backend {

/// What a pool holds at one moment.
struct PEWTER_EXPORT PoolStatistics {
  std::size_t used_bytes = 0;
  std::size_t total_bytes = 0;
  std::size_t n_free_blocks = 0;

  std::size_t free_bytes() const { return total_bytes - used_bytes; }
  /// From 0 to 1; 0 when the pool holds nothing.
  double utilization() const {
    return total_bytes == 0 ? 0.0
                            : static_cast<double>(used_bytes) / static_cast<double>(total_bytes);
  }
  double used_mb() const { return static_cast<double>(used_bytes) / kMebibyte; }
  double total_mb() const { return static_cast<double>(total_bytes) / kMebibyte; }

  bool operator==(const PoolStatistics&) const = default;

 private:
  static constexpr double kMebibyte = 1024.0 * 1024.0;
};

/// The process's allocator seen as a pool: live arrays use it, freed ones leave free blocks in it.
///
/// There is one. Safe to use from any thread.
class PEWTER_EXPORT MemoryPool {
 public:
  static MemoryPool& instance();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Freed memory is kept for reuse, up to the limit. It is so from the start.
  void enable();
  /// Freed memory goes back to the system at once, and so does what is kept.
  void disable();
  bool enabled() const;

  PoolStatistics get_stats() const;
  /// All 0: there is no pinned memory here.
  PoolStatistics get_pinned_stats() const { return {}; }

  /// Give all free blocks back to the system.
  void free_all_blocks();
  void free_all_free() { free_all_blocks(); }

  /// How many MiB of freed memory are kept; nothing stands for the allocator's own limit.
  void set_limit(std::optional<std::size_t> size_mb);

 private:
  MemoryPool() = default;
  ~MemoryPool() = default;
};

PEWTER_EXPORT MemoryPool& get_memory_pool();

/// Sets the limit and enables or disables the pool. `initial_size_mb` is taken and changes nothing:
/// memory is asked for when it is needed.
PEWTER_EXPORT MemoryPool& configure_memory_pool(std::size_t initial_size_mb = 0,
                                                std::optional<std::size_t> max_size_mb = {},
                                                bool enable = true);

}  // namespace pewter::backend
