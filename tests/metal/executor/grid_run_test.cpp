#include "pewter/metal/executor/grid_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <thread>

#include "tests/metal/executor/executor_support.h"

namespace pewter::executor::test {
namespace {

using Counts = std::vector<std::uint32_t>;

/// Dispatches that run together.
class Together {
 public:
  void add(const Dispatch& dispatch) {
    dispatches_.push_back(dispatch);
    grids_.emplace_back().dispatch = &dispatches_.back();
    if (grids_.size() > 1) {
      grids_[grids_.size() - 2].next = &grids_.back();
    }
  }

  Grid& first() { return grids_.front(); }
  const Dispatch* dispatch(std::size_t index) const { return &dispatches_[index]; }

 private:
  std::deque<Dispatch> dispatches_;
  std::deque<Grid> grids_;
};

/// A task that notes that it has run.
struct Marker : Task {
  Marker() {
    run = [](Task& task) {
      auto& self = static_cast<Marker&>(task);
      self.pending.store(0);
      self.pending.notify_all();
    };
  }
  std::atomic<std::uint32_t> pending = 1;
};

/// A task that keeps a worker until it is released.
struct Blocker : Task {
  Blocker() {
    run = [](Task& task) {
      auto& self = static_cast<Blocker&>(task);
      self.started.store(1);
      self.started.notify_all();
      self.kept.wait(1);
      self.ended.store(1);
      self.ended.notify_all();
    };
  }
  void release() {
    kept.store(0);
    kept.notify_all();
    ended.wait(0);
  }
  std::atomic<std::uint32_t> started = 0;
  std::atomic<std::uint32_t> kept = 1;
  std::atomic<std::uint32_t> ended = 0;
};

bool all_are(const Counts& counts, std::uint32_t value) {
  return std::all_of(counts.begin(), counts.end(), [&](std::uint32_t n) { return n == value; });
}

TEST_CASE("grids that run together run each of their threads once") {
  const auto kernel = plain_kernel("count_visits");
  std::vector<Counts> visits;
  for (const std::uint32_t threads : {1U, 31U, 1025U, 0U, 100003U, 7U}) {
    visits.emplace_back(threads);
  }
  GridRun run;
  for (std::uint32_t round = 1; round <= 20; ++round) {
    Together grids;
    for (Counts& own : visits) {
      grids.add(dispatch(*kernel, {static_cast<std::uint32_t>(own.size())}, {32}, {own.data()}));
    }

    run.start(grids.first());
    REQUIRE(run.advance(false));

    REQUIRE(!run.fault());
    for (const Counts& own : visits) {
      REQUIRE(all_are(own, round));
    }
  }
}

TEST_CASE("a grid may wait for another that runs together with it") {
  if (thread_count() < 2) {
    MESSAGE("needs two threads");
    return;
  }
  const auto waiting = plain_kernel("wait_for_flag");
  const auto setting = plain_kernel("set_flag");
  std::uint32_t flag = 0;
  Together grids;
  grids.add(dispatch(*waiting, {1}, {1}, {&flag}));
  grids.add(dispatch(*setting, {1}, {1}, {&flag}));

  GridRun run;
  run.start(grids.first());

  CHECK(run.advance(false));
  CHECK(!run.fault());
  CHECK(flag == 1);
}

TEST_CASE("a fault names the dispatch that it happened in") {
  const auto good = plain_kernel("count_visits");
  const auto bad = plain_kernel("write_to_null");
  Counts visits(64);
  Together grids;
  grids.add(dispatch(*good, {64}, {32}, {visits.data()}));
  grids.add(dispatch(*bad, {1}, {1}));
  grids.add(dispatch(*good, {64}, {32}, {visits.data()}));

  GridRun run;
  run.start(grids.first());
  CHECK(run.advance(false));

  CHECK(run.fault().kind == FaultKind::PageFault);
  CHECK(run.faulted() == grids.dispatch(1));
}

TEST_CASE("a run can follow one that ended with a fault") {
  const auto good = plain_kernel("count_visits");
  const auto bad = plain_kernel("write_to_null");
  Counts visits(1000);
  GridRun run;
  Together faulty;
  faulty.add(dispatch(*bad, {64}, {1}));
  run.start(faulty.first());
  run.advance(false);
  REQUIRE(run.fault());

  Together grids;
  grids.add(dispatch(*good, {1000}, {8}, {visits.data()}));
  run.start(grids.first());
  CHECK(run.advance(false));

  CHECK(!run.fault());
  CHECK(run.faulted() == nullptr);
  CHECK(all_are(visits, 1));
}

TEST_CASE("a run makes way for tasks that are waiting and is continued later") {
  const auto kernel = plain_kernel("linger_until_flag");
  std::uint32_t flag = 0;
  Together grids;
  grids.add(dispatch(*kernel, {10'000'000}, {1}, {&flag}));
  std::deque<Blocker> blockers;
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    post(blockers.emplace_back());
    blockers.back().started.wait(0);
  }
  Marker marker;
  post(marker);

  GridRun run;
  run.start(grids.first());
  CHECK_FALSE(run.advance(true));
  CHECK(marker.pending.load() == 1);
  for (Blocker& blocker : blockers) {
    blocker.release();
  }
  wait_until_zero(marker.pending);
  Marker continuation;
  run.post_continuation(continuation);
  wait_until_zero(continuation.pending);
  std::atomic_ref(flag).store(1);

  CHECK(run.advance(false));
  CHECK(!run.fault());
}

TEST_CASE("each thread begins with its own part of a grid") {
  if (thread_count() < 2) {
    MESSAGE("needs two threads");
    return;
  }
  const auto kernel = plain_kernel("wait_for_second_half");
  for (int round = 0; round < 20; ++round) {
    std::uint32_t flag = 0;

    CHECK(!executor::run(dispatch(*kernel, {64}, {1}, {&flag})));

    CHECK(flag == 1);
  }
}

TEST_CASE("groups of kernels with atomics may wait for those before them") {
  constexpr std::uint32_t kGroups = 4096;
  constexpr std::size_t kGrids = 12;
  const auto kernel = plain_kernel("wait_for_group_before", {.uses_atomics = true});
  for (int round = 0; round < 10; ++round) {
    std::vector<Counts> counts(kGrids, Counts(kGroups));
    std::vector<std::thread> threads;
    for (Counts& own : counts) {
      threads.emplace_back([&] { executor::run(dispatch(*kernel, {kGroups}, {1}, {own.data()})); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }

    for (const Counts& own : counts) {
      REQUIRE(own.back() == kGroups);
    }
  }
}

TEST_CASE("the last helper posts the continuation of a run whose groups are all taken") {
  if (thread_count() < 2) {
    MESSAGE("needs two threads");
    return;
  }
  const auto kernel = plain_kernel("begin_and_wait_for_flag");
  const auto counting = plain_kernel("count_visits");
  std::uint32_t flag = 0;
  std::uint32_t has_begun = 0;
  Counts visits(1);
  Together grids;
  grids.add(dispatch(*kernel, {1}, {1}, {&flag, &has_begun}));
  grids.add(dispatch(*counting, {1}, {1}, {visits.data()}));
  GridRun run;
  run.start(grids.first());
  // A worker takes the group that waits; this thread must not get there first.
  while (worker_pool().has_tasks() || std::atomic_ref(has_begun).load() == 0) {
    std::this_thread::yield();
  }

  Marker continuation;
  CHECK_FALSE(run.advance(true));
  run.post_continuation(continuation);
  CHECK(continuation.pending.load() == 1);
  std::atomic_ref(flag).store(1);
  wait_until_zero(continuation.pending);

  CHECK(run.advance(true));
  CHECK(visits[0] == 1);
}

TEST_CASE("the time of a group is remembered") {
  const auto kernel = plain_kernel("linger_until_flag");
  std::uint32_t flag = 0;
  std::atomic<std::uint32_t> group_ns = 0;
  Dispatch made = dispatch(*kernel, {64}, {1}, {&flag});
  made.group_ns = &group_ns;

  CHECK(!executor::run(made));

  CHECK(group_ns.load() > 1000);
}

}  // namespace
}  // namespace pewter::executor::test
