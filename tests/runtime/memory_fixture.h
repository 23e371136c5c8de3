#pragma once

#include <cstddef>

#include "pewter/runtime/allocator.h"

namespace pewter::test {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

/// The process's allocator with an empty cache, and every limit put back at the end.
class MemoryFixture {
 public:
  MemoryFixture() {
    memory.empty_cache();
    memory.reset_peak();
    cache_limit_ = memory.set_cache_limit(~std::size_t{0});
    memory.set_cache_limit(cache_limit_);
  }
  ~MemoryFixture() {
    memory.set_memory_limit(memory_limit_, true);
    memory.set_cache_limit(cache_limit_);
    memory.set_hard_limit(hard_limit_);
    memory.set_wired_limit(0);
    memory.empty_cache();
  }
  MemoryFixture(const MemoryFixture&) = delete;
  MemoryFixture& operator=(const MemoryFixture&) = delete;

  runtime::Allocator& memory = runtime::allocator();

 private:
  std::size_t memory_limit_ = memory.memory_limit();
  std::size_t hard_limit_ = memory.hard_limit();
  std::size_t cache_limit_ = 0;
};

}  // namespace pewter::test
