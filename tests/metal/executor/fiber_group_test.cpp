#include "pewter/metal/executor/fiber_group.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/metal/executor/executor_support.h"

namespace pewter::executor::test {
namespace {

template <typename T>
std::vector<T> run_fibers(const std::string& name, std::uint32_t threads, std::vector<T> values) {
  const auto kernel = fiber_kernel(name);
  const Fault fault = run(dispatch(*kernel, {threads}, {threads}, {values.data()}, 32768));
  CHECK(!fault);
  return values;
}

TEST_CASE("a tree reduction through barriers adds up groups of any size") {
  const auto kernel = fiber_kernel("tree_sum");
  for (const std::uint32_t size : {1U, 2U, 31U, 32U, 33U, 64U, 100U, 256U, 1000U, 1024U}) {
    std::vector<std::uint32_t> values(3000);
    std::iota(values.begin(), values.end(), 0);
    std::vector<std::uint32_t> expected(values.size());
    for (std::uint32_t first = 0; first < 3000; first += size) {
      const std::uint32_t end = std::min(first + size, 3000U);
      const std::uint32_t sum = std::accumulate(values.begin() + first, values.begin() + end, 0U);
      std::fill(expected.begin() + first, expected.begin() + end, sum);
    }

    const Fault fault = run(dispatch(*kernel, {3000}, {size}, {values.data()}, 4096));

    CAPTURE(size);
    CHECK(!fault);
    CHECK(values == expected);
  }
}

TEST_CASE("a barrier does not wait for threads that have returned") {
  const auto values =
      run_fibers<std::uint32_t>("leave_before_barrier", 101, std::vector<std::uint32_t>(101, 7));
  for (std::uint32_t i = 0; i < 101; ++i) {
    CHECK(values[i] == (i % 2 != 0 ? 7 : i == 100 ? 0 : i + 2));
  }
}

TEST_CASE("each branch sees its own threads, and all of them meet again behind it") {
  const auto masks =
      run_fibers<std::uint64_t>("masks_of_branches", 40, std::vector<std::uint64_t>(80));
  std::uint64_t taken[2] = {0, 0};
  for (std::uint32_t i = 0; i < 40; ++i) {
    taken[i / 32] |= std::uint64_t(i % 3 == 0) << i % 32;
  }
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint64_t all = i < 32 ? 0xffffffff : 0xff;
    CAPTURE(i);
    CHECK(masks[i * 2] == (i % 3 == 0 ? taken[i / 32] : all & ~taken[i / 32]));
    CHECK(masks[i * 2 + 1] == all);
  }
}

TEST_CASE("threads of a loop stay together until each leaves it") {
  const auto results =
      run_fibers<std::uint64_t>("masks_of_loop", 32, std::vector<std::uint64_t>(64));
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    CAPTURE(i);
    CHECK(results[i * 2] == count);
    CHECK(results[i * 2 + 1] == 0xffffffff);
    // Turn i is taken by the threads with a higher index.
    count += 31 - i;
  }
}

TEST_CASE("an exchange is not disturbed by lanes that run ahead") {
  const auto values =
      run_fibers<std::uint32_t>("rotate_many_times", 32, std::vector<std::uint32_t>(32));
  for (std::uint32_t i = 0; i < 32; ++i) {
    CHECK(values[i] == (i + 100) % 32);
  }
}

TEST_CASE("a lane's operand survives exchanges of other lanes") {
  const auto values =
      run_fibers<std::uint32_t>("wait_at_high_site", 32, std::vector<std::uint32_t>(32));
  // Lane 0 has 100 in both exchanges, lane i then has 100 + i; lane 5 comes with 105.
  std::uint32_t expected = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    expected += 100 + i;
  }
  CHECK(values == std::vector<std::uint32_t>(32, expected));
}

TEST_CASE("large private arrays survive a barrier") {
  const auto kernel = fiber_kernel("large_array_across_barrier", (100 << 10) + 4096);
  std::vector<std::uint32_t> wrong(200, 1);

  const Fault fault = run(dispatch(*kernel, {200}, {100}, {wrong.data()}));

  CHECK(!fault);
  CHECK(wrong == std::vector<std::uint32_t>(200, 0));
}

TEST_CASE("kernels with small and large stacks can take turns") {
  const auto small = fiber_kernel("tree_sum");
  const auto large = fiber_kernel("large_array_across_barrier", 1 << 20);
  for (int i = 0; i < 4; ++i) {
    std::vector<std::uint32_t> values(64, 1);
    CHECK(!run(dispatch(*large, {64}, {64}, {values.data()})));
    CHECK(values == std::vector<std::uint32_t>(64, 0));
    CHECK(!run(dispatch(*small, {64}, {64}, {values.data()}, 4096)));
  }
}

}  // namespace
}  // namespace pewter::executor::test
