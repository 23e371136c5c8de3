#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <vector>

#include "pewter/base/sanitizer.h"
#include "tests/metal/driver/dispatch_workload.h"

// Every way to the heap is counted, whichever thread takes it. Sanitizers have a heap of their own.
#if PEWTER_ADDRESS_SANITIZER || PEWTER_THREAD_SANITIZER
#define PEWTER_COUNTS_ALLOCATIONS 0
#else
#define PEWTER_COUNTS_ALLOCATIONS 1
#endif

namespace {

std::atomic<bool> is_counting = false;
std::atomic<std::uint64_t> allocation_count = 0;

[[maybe_unused]] void count_allocation() {
  if (is_counting.load(std::memory_order_relaxed)) {
    allocation_count.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

#if PEWTER_COUNTS_ALLOCATIONS
// Visible, so that the shared libraries find these too.
#pragma GCC visibility push(default)
extern "C" {

// The C library's own, under the names that it has for those who replace the others.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  count_allocation();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  count_allocation();
  return __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  count_allocation();
  return __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count_allocation();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count_allocation();
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
}
#pragma GCC visibility pop
#endif

namespace pewter::driver::test {
namespace {

/// Of one run of `action`.
template <typename Action>
std::uint64_t allocations_of(Action action) {
  allocation_count.store(0);
  is_counting.store(true);
  action();
  is_counting.store(false);
  return allocation_count.load();
}

/// Of a run of `action` in the steady state: the least of several, for a worker thread allocates
/// when it helps for the first time, and which thread helps is decided by the operating system.
template <typename Action>
std::uint64_t steady_allocations_of(Action action) {
  std::uint64_t least = allocations_of(action);
  for (int i = 0; i < 20; ++i) {
    least = std::min(least, allocations_of(action));
  }
  return least;
}

TEST_CASE("the count sees allocations") {
  if (!PEWTER_COUNTS_ALLOCATIONS) {
    MESSAGE("the sanitizer has a heap of its own");
    return;
  }

  std::unique_ptr<std::vector<int>> kept;
  const std::uint64_t count =
      allocations_of([&] { kept = std::make_unique<std::vector<int>>(100); });

  CHECK(count == 2);
  CHECK(kept->size() == 100);
}

TEST_CASE("recording and running further dispatches allocates nothing") {
  Commands gpu;
  DispatchWorkload work(gpu);
  for (int i = 0; i < 20; ++i) {
    work.run(i % 2 == 0 ? 100 : 1, i % 3 != 0);
  }

  const std::uint64_t with_one = steady_allocations_of([&] { work.run(1, true); });
  const std::uint64_t with_many = steady_allocations_of([&] { work.run(101, true); });
  const std::uint64_t concurrent = steady_allocations_of([&] { work.run(100, true); });
  const std::uint64_t on_a_worker = steady_allocations_of([&] { work.run(100, false); });

  CHECK(with_many == with_one);
  CHECK(concurrent == with_one);
  CHECK(on_a_worker == with_one);
  CHECK(work.is_right());
}

TEST_CASE("a command buffer like those before allocates nothing") {
  Commands gpu;
  DispatchWorkload work(gpu);
  // Memory of released objects is kept for a while before it is used again.
  for (int i = 0; i < 5000; ++i) {
    work.run(1, true);
  }

  CHECK(steady_allocations_of([&] { work.run(1, true); }) == 0);
  CHECK(work.is_right());
}

}  // namespace
}  // namespace pewter::driver::test
