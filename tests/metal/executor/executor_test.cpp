#include "pewter/metal/executor/executor.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <numeric>
#include <thread>

#include "tests/metal/executor/executor_support.h"
#include "tests/support/sanitizer_limits.h"

namespace pewter::executor::test {
namespace {

std::uint64_t volume(Extent extent) {
  return std::uint64_t(extent.x) * extent.y * extent.z;
}

bool runs_each_thread_once(Extent threads, Extent group) {
  const auto kernel = plain_kernel("count_visits");
  std::vector<std::uint32_t> visits(volume(threads) + 1);

  const Fault fault = run(dispatch(*kernel, threads, group, {visits.data()}));

  return !fault && visits.back() == 0 &&
         std::all_of(visits.begin(), visits.end() - 1, [](std::uint32_t n) { return n == 1; });
}

TEST_CASE("every thread of a grid runs exactly once") {
  CHECK(runs_each_thread_once({1}, {1}));
  CHECK(runs_each_thread_once({31}, {32}));
  CHECK(runs_each_thread_once({33}, {32}));
  CHECK(runs_each_thread_once({1025}, {1024}));
  CHECK(runs_each_thread_once({100003}, {256}));
  CHECK(runs_each_thread_once({100003}, {1}));
  CHECK(runs_each_thread_once({37, 29, 5}, {8, 8, 2}));
  CHECK(runs_each_thread_once({1, 1, 4099}, {1, 1, 64}));
}

TEST_CASE("a thread's own objects may run kernels when they are destroyed at its end") {
  const auto counting = plain_kernel("count_visits");
  const auto bad = plain_kernel("write_to_null");
  std::vector<std::uint32_t> visits(1025);
  static Dispatch count_visits;
  static Dispatch write_to_null;
  static Fault faults[2];
  count_visits = dispatch(*counting, {1025}, {64}, {visits.data()});
  write_to_null = dispatch(*bad, {1}, {1});
  struct Last {
    ~Last() {
      faults[0] = run(count_visits);
      faults[1] = run(write_to_null);
    }
  };

  std::thread([] {
    thread_local const Last last;
    static_cast<void>(&last);
    run(count_visits);
  }).join();

  CHECK(!faults[0]);
  CHECK(faults[1].kind == FaultKind::PageFault);
  CHECK(std::count(visits.begin(), visits.end(), 2U) == 1025);
}

TEST_CASE("groups at the edge of a non-uniform grid are smaller") {
  const auto kernel = plain_kernel("record_group_sizes");
  std::vector<std::uint32_t> sizes(2 * 2 * 1 * 3);

  const Fault fault = run(dispatch(*kernel, {10, 7, 3}, {8, 4, 4}, {sizes.data()}));

  CHECK(!fault);
  CHECK(sizes == std::vector<std::uint32_t>{8, 4, 3, 2, 4, 3, 8, 3, 3, 2, 3, 3});
}

TEST_CASE("a grid without threads runs nothing") {
  const auto kernel = plain_kernel("write_to_null");

  CHECK(!run(dispatch(*kernel, {0}, {32})));
  CHECK(!run(dispatch(*kernel, {5, 0, 5}, {1, 1, 1})));
}

TEST_CASE("a built-in called by name gives the C library's result") {
  const auto kernel = plain_kernel("sine");
  std::vector<float> in(1000), out(1000);
  std::iota(in.begin(), in.end(), -500.0F);

  const Fault fault = run(dispatch(*kernel, {1000}, {64}, {in.data(), out.data()}));

  CHECK(!fault);
  for (std::size_t i = 0; i < in.size(); ++i) {
    CHECK(out[i] == std::sin(in[i]));
  }
}

TEST_CASE("constant tables of addresses are relocated") {
  const auto kernel = plain_kernel("call_by_table");
  const std::vector<float> in = {1.5F, 1.5F, 1.5F};
  std::vector<float> out(3);

  const Fault fault = run(dispatch(*kernel, {3}, {3}, {in.data(), out.data()}));

  CHECK(!fault);
  CHECK(out == std::vector<float>{3.0F, 2.25F, 1.0F});
}

TEST_CASE("functions that were not inlined find their group's threadgroup memory") {
  const auto kernel = plain_kernel("write_threadgroup_base");
  std::vector<std::uint32_t> out(500), expected(500);
  std::iota(expected.begin(), expected.end(), 0);

  const Fault fault = run(dispatch(*kernel, {500}, {1}, {out.data()}, 64));

  CHECK(!fault);
  CHECK(out == expected);
}

TEST_CASE("threadgroup memory of any length is aligned and usable to its end") {
  const auto kernel = plain_kernel("touch_threadgroup_memory");
  for (const std::uint32_t bytes : {1U, 127U, 128U, 129U, 4096U, 32768U}) {
    const std::uint32_t last = bytes - 1;
    CAPTURE(bytes);
    CHECK(!run(dispatch(*kernel, {1}, {1}, {&last}, bytes)));
  }
}

TEST_CASE("a kernel with a large private array gets the stack that it asks for") {
  const auto kernel = plain_kernel("large_private_array", {.stack_bytes = (1 << 20) + 4096});
  std::vector<std::uint32_t> out(40);

  const Fault fault = run(dispatch(*kernel, {40}, {4}, {out.data()}));

  CHECK(!fault);
  CHECK(
      std::all_of(out.begin(), out.end(), [](std::uint32_t sum) { return sum == 8 * 255 * 128; }));
}

TEST_CASE("results do not depend on the rounding mode of the thread that helps") {
  const auto kernel = plain_kernel("third");
  std::vector<float> out(64);

  std::fesetround(FE_UPWARD);
  const Fault fault = run(dispatch(*kernel, {64}, {1}, {out.data()}));
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);

  CHECK(!fault);
  CHECK(mode == FE_UPWARD);
  CHECK(std::all_of(out.begin(), out.end(), [](float value) { return value == 1.0F / 3.0F; }));
}

TEST_CASE("grids of several threads run at the same time") {
  const auto waiting = plain_kernel("wait_for_flag");
  const auto counting = plain_kernel("count_visits");
  std::uint32_t flag = 0;
  std::vector<std::uint32_t> visits(10000);

  std::thread other([&] { run(dispatch(*waiting, {1}, {1}, {&flag})); });
  const Fault fault = run(dispatch(*counting, {10000}, {16}, {visits.data()}));
  std::atomic_ref(flag).store(1);
  other.join();

  CHECK(!fault);
  CHECK(std::all_of(visits.begin(), visits.end(), [](std::uint32_t n) { return n == 1; }));
}

TEST_CASE("many threads can start many grids") {
  const auto kernel = plain_kernel("count_visits");
  std::vector<std::vector<std::uint32_t>> visits(4, std::vector<std::uint32_t>(1000));

  std::vector<std::thread> threads;
  for (auto& own : visits) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        run(dispatch(*kernel, {1000}, {32}, {own.data()}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  for (const auto& own : visits) {
    CHECK(std::all_of(own.begin(), own.end(), [](std::uint32_t n) { return n == 200; }));
  }
}

TEST_CASE("a kernel whose stacks do not fit into memory is refused") {
  if (!pewter::test::can_limit_memory()) {
    return;
  }
  const auto kernel = fiber_kernel("tree_sum", 1U << 30);
  std::vector<std::uint32_t> values(64);

  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {std::uint64_t(4) << 30, std::uint64_t(4) << 30};
    setrlimit(RLIMIT_AS, &limit);
    const Fault fault = run(dispatch(*kernel, {64}, {64}, {values.data()}, 4096));
    _exit(fault.kind == FaultKind::OutOfMemory ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a task that is posted runs on a worker") {
  struct Marker : WorkerPool::Task {
    std::atomic<std::uint32_t> pending = 1;
    std::thread::id thread;
  } marker;
  marker.run = [](WorkerPool::Task& task) {
    auto& self = static_cast<Marker&>(task);
    self.thread = std::this_thread::get_id();
    self.pending.store(0);
    self.pending.notify_all();
  };

  post(marker);
  wait_until_zero(marker.pending);

  CHECK(marker.thread != std::this_thread::get_id());
}

TEST_CASE("a child process runs grids on workers of its own") {
  if (!pewter::test::can_start_threads_after_fork()) {
    return;
  }
  const auto kernel = plain_kernel("count_visits");
  std::vector<std::uint32_t> visits(10000);
  run(dispatch(*kernel, {10000}, {16}, {visits.data()}));

  const pid_t child = fork();
  if (child == 0) {
    const Fault fault = run(dispatch(*kernel, {10000}, {16}, {visits.data()}));
    const bool is_right =
        std::all_of(visits.begin(), visits.end(), [](std::uint32_t n) { return n == 2; });
    _exit(!fault && is_right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace pewter::executor::test
