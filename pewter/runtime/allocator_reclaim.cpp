// How cached blocks go back to the system. Every function but the last three is called with the
// allocator's mutex held.
#include <memory>
#include <vector>

#include "pewter/runtime/allocator_state.h"

namespace pewter::runtime {
namespace {

// Above this, blocks are what memory pressure is relieved with.
constexpr std::size_t kLargeLength = std::size_t{1} << 20;

}  // namespace

void Allocator::State::add_made(Block* block) {
  block->previous_made = last_made;
  block->next_made = nullptr;
  (last_made != nullptr ? last_made->next_made : first_made) = block;
  last_made = block;
  held.fetch_add(block->length, std::memory_order_acq_rel);
  wired.add(block);
}

void Allocator::State::forget(Block* block) {
  wired.remove(block);
  (block->previous_made != nullptr ? block->previous_made->next_made : first_made) =
      block->next_made;
  (block->next_made != nullptr ? block->next_made->previous_made : last_made) =
      block->previous_made;
  held.fetch_sub(block->length, std::memory_order_acq_rel);
  --resources;
}

void Allocator::State::collect_magazines() {
  Magazine::for_each(
      [this](Magazine& magazine) { magazine.drain([this](Block* block) { cache.put(block); }); });
}

Block* Allocator::State::take_cached(std::size_t length) {
  // Nothing beats an exact fit; otherwise a magazine may hold the best one.
  if (!cache.has_exact(length)) {
    collect_magazines();
  }
  return cache.take(length);
}

void Allocator::State::reclaim_for(std::size_t length, std::vector<Block*>& ended) {
  const std::size_t required = held.load() + pending + length;
  const std::size_t limit = gc_limit.load();
  if (required >= limit) {
    release_oldest(required - limit, ended);
  }
  if (resources >= resource_limit) {
    release_oldest(cache.bytes(), ended);
  }
}

void Allocator::State::relieve_pressure(std::size_t length, std::vector<Block*>& ended) {
  const std::size_t limit = soft_limit.load();
  std::size_t total = driver_total() + pending;
  if (limit == 0 || length <= kLargeLength || total < limit || cache.bytes() <= length) {
    return;
  }
  // Those that survived most allocations first, which is the order of the frees.
  Block* next = nullptr;
  for (Block* block = cache.oldest(); block != nullptr && total >= limit; block = next) {
    next = block->newer;
    if (block->length > kLargeLength) {
      total -= block->length;
      cache.remove(block);
      forget(block);
      ended.push_back(block);
    }
  }
}

void Allocator::State::release_oldest(std::size_t bytes, std::vector<Block*>& ended) {
  const bool all = static_cast<double>(bytes) >= 0.9 * static_cast<double>(cache.bytes());
  std::size_t released = 0;
  while (cache.oldest() != nullptr && (all || released < bytes)) {
    Block* block = cache.oldest();
    released += block->length;
    cache.remove(block);
    forget(block);
    ended.push_back(block);
  }
}

void Allocator::State::release_until_allowed(std::size_t length) {
  while (cache.oldest() != nullptr && exceeds_hard_limit(length)) {
    Block* block = cache.oldest();
    cache.remove(block);
    forget(block);
    end({block});
  }
}

void Allocator::State::end(const std::vector<Block*>& ended) {
  for (Block* block : ended) {
    log.released(block->length, cached());
    source.end(std::unique_ptr<Block>(block));
  }
}

void Allocator::State::trim_to_cache_limit() {
  std::vector<Block*> ended;
  {
    const std::scoped_lock lock(mutex);
    collect_magazines();
    const std::size_t limit = cache_limit.load();
    if (cache.bytes() > limit) {
      release_oldest(cache.bytes() - limit, ended);
    }
  }
  end(ended);
}

void Allocator::State::clear_cache() {
  std::vector<Block*> ended;
  {
    const std::scoped_lock lock(mutex);
    collect_magazines();
    release_oldest(cache.bytes(), ended);
  }
  end(ended);
  source.release_empty_heap();
}

}  // namespace pewter::runtime
