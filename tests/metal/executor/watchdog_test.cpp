#include "pewter/metal/executor/watchdog.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/metal/executor/executor_support.h"
#include "tests/support/sanitizer_limits.h"

namespace pewter::executor::test {
namespace {

bool a_kernel_still_runs() {
  const auto kernel = fiber_kernel("tree_sum");
  std::vector<std::uint32_t> values(256, 1);
  const Fault fault = run(dispatch(*kernel, {256}, {128}, {values.data()}, 512));
  return !fault && values == std::vector<std::uint32_t>(256, 128);
}

bool is_stopped(const LoadedKernel& kernel, Extent threads, Extent group) {
  const TimeLimit limit(50);
  return run(dispatch(kernel, threads, group)).kind == FaultKind::Timeout;
}

TEST_CASE("an endless kernel is stopped and later grids run") {
  if (!pewter::test::can_stop_kernels()) {
    return;
  }
  const auto kernel = plain_kernel("loop_for_ever");
  for (int i = 0; i < 3; ++i) {
    CHECK(is_stopped(*kernel, {64}, {1}));
    CHECK(a_kernel_still_runs());
  }
}

TEST_CASE("an endless kernel is stopped after a barrier") {
  if (!pewter::test::can_stop_kernels()) {
    return;
  }
  CHECK(is_stopped(*fiber_kernel("loop_after_barrier"), {64}, {32}));
  CHECK(a_kernel_still_runs());
}

TEST_CASE("a kernel that spends its time at barriers is stopped") {
  if (!pewter::test::can_stop_kernels()) {
    return;
  }
  const auto kernel = fiber_kernel("barrier_for_ever");
  for (int i = 0; i < 10; ++i) {
    CHECK(is_stopped(*kernel, {256}, {64}));
    CHECK(a_kernel_still_runs());
  }
}

TEST_CASE("an endless kernel does not keep grids of other threads from running") {
  if (!pewter::test::can_stop_kernels()) {
    return;
  }
  const TimeLimit limit(300);
  const auto endless = plain_kernel("loop_for_ever");
  FaultKind kind = FaultKind::None;
  std::thread other([&] { kind = run(dispatch(*endless, {64}, {1})).kind; });

  CHECK(a_kernel_still_runs());

  other.join();
  CHECK(kind == FaultKind::Timeout);
}

TEST_CASE("a limit of 0 is no limit") {
  const TimeLimit limit(0);
  const auto kernel = plain_kernel("wait_for_flag");
  std::uint32_t flag = 0;
  Fault fault;
  std::thread runner([&] { fault = run(dispatch(*kernel, {1}, {1}, {&flag})); });

  // Nothing to wait for: the point is that nothing happens.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic_ref(flag).store(1);
  runner.join();

  CHECK(!fault);
}

}  // namespace
}  // namespace pewter::executor::test
