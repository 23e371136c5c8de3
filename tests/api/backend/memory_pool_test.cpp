#include <doctest/doctest.h>
#include <pewter/array.h>
#include <pewter/memory.h>
#include <pewter/memory_pool.h>

using namespace pewter::backend;
using pewter::array;

namespace {

constexpr std::int64_t kBytes = 1 << 20;

/// The pool as it is at the start, before and after a test.
struct FreshPool {
  FreshPool() { reset(); }
  ~FreshPool() { reset(); }
  FreshPool(const FreshPool&) = delete;
  FreshPool& operator=(const FreshPool&) = delete;

  static void reset() {
    configure_memory_pool();
    get_memory_pool().free_all_blocks();
  }
};

void use_and_free() {
  const array x = array::empty({kBytes}, pewter::Dtype::UInt8);
}

}  // namespace

TEST_CASE("there is one pool") {
  CHECK(&MemoryPool::instance() == &get_memory_pool());
  CHECK(&configure_memory_pool() == &get_memory_pool());
}

TEST_CASE("the pool's numbers are the allocator's") {
  const FreshPool fresh;
  MemoryPool& pool = get_memory_pool();
  const PoolStatistics before = pool.get_stats();
  const array x = array::empty({kBytes}, pewter::Dtype::UInt8);
  use_and_free();

  const PoolStatistics after = pool.get_stats();
  CHECK(after.used_bytes == pewter::get_active_memory());
  CHECK(after.used_bytes >= before.used_bytes + kBytes);
  CHECK(after.free_bytes() == pewter::get_cache_memory());
  CHECK(after.free_bytes() >= kBytes);
  CHECK(after.n_free_blocks == 1);
  CHECK(after.utilization() == doctest::Approx(static_cast<double>(after.used_bytes) /
                                               static_cast<double>(after.total_bytes)));
  CHECK(after.total_mb() >= 2);
  CHECK(pool.get_pinned_stats() == PoolStatistics{});
  CHECK(PoolStatistics{}.utilization() == 0);

  pool.free_all_free();
  CHECK(pool.get_stats().n_free_blocks == 0);
  CHECK(pool.get_stats().free_bytes() == 0);
}

TEST_CASE("a limit holds until it is taken back") {
  const FreshPool fresh;
  const std::size_t original = pewter::set_cache_limit(123 << 20);
  get_memory_pool().set_limit(7);
  CHECK(pewter::set_cache_limit(7 << 20) == 7 << 20);
  get_memory_pool().set_limit(std::nullopt);
  CHECK(pewter::set_cache_limit(original) == 123 << 20);
}

TEST_CASE("a pool that is disabled keeps nothing, and comes back as it was") {
  const FreshPool fresh;
  MemoryPool& pool = configure_memory_pool(0, 64, false);
  CHECK_FALSE(pool.enabled());
  use_and_free();
  CHECK(pool.get_stats().free_bytes() == 0);

  pool.enable();
  CHECK(pool.enabled());
  use_and_free();
  CHECK(pool.get_stats().free_bytes() >= kBytes);
  CHECK(pewter::set_cache_limit(64 << 20) == 64 << 20);
}
