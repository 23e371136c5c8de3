#pragma once

#include <stdlib.h>
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace bench {

/// Memory as a careful program asks for it: on huge pages where the system has them.
template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  [[gnu::noinline]] T* allocate(std::size_t count) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t alignment = count * sizeof(T) >= kHugePage ? kHugePage : 64;
    const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    void* memory = ::aligned_alloc(alignment, bytes);
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    if (alignment == kHugePage) {
      ::madvise(memory, bytes, MADV_HUGEPAGE);
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { ::free(memory); }

  bool operator==(const HugePageAllocator&) const { return true; }
};

template <typename T>
using Array = std::vector<T, HugePageAllocator<T>>;

template <typename T>
Array<T> array_of(const std::vector<T>& values) {
  return Array<T>(values.begin(), values.end());
}

}  // namespace bench
