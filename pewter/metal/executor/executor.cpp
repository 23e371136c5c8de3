#include "pewter/metal/executor/executor.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/metal/executor/float_environment.h"
#include "pewter/metal/executor/guarded_call.h"
#include "pewter/metal/executor/kernel_thread.h"
#include "pewter/metal/executor/process_instance.h"
#include "pewter/metal/executor/thread_state.h"

namespace pewter::executor {
namespace {

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kBlocksPerThread = 16;
constexpr std::uint64_t kMaxBlock = 1024;
// Work that is worth the wake-up of a sleeping worker.
constexpr std::uint64_t kWakeNs = 10'000;
// About a year; more would not fit the clock.
constexpr std::uint64_t kMaxTimeoutMs = std::uint64_t(1) << 35;

class SharedPool : public WorkerPool {
 public:
  SharedPool() : WorkerPool(thread_count()) {}
};

WorkerPool& pool() {
  return ProcessInstance<SharedPool>::get();
}

/// Number of groups. Beyond 64 bits it makes no difference: nobody lives to see the end.
std::uint64_t group_count(const abi::Launch& launch) {
  std::uint64_t count = 1;
  for (const std::uint64_t groups : launch.threadgroups_per_grid) {
    if (groups == 0) {
      return 0;
    }
    if (count > std::numeric_limits<std::uint64_t>::max() / groups) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    count *= groups;
  }
  return count;
}

/// A running dispatch: groups are claimed in blocks, in order.
class Grid : public WorkerPool::Job {
 public:
  Grid(const Dispatch& dispatch, std::uint64_t group_count)
      : dispatch_(dispatch),
        group_count_(group_count),
        block_(std::clamp<std::uint64_t>(
            group_count / (thread_count() * kBlocksPerThread), 1, kMaxBlock)) {}

  Fault run();

  void help() override;
  bool has_work() const override {
    return !stop_.load(std::memory_order_relaxed) && !declined_.load(std::memory_order_relaxed) &&
           next_.load(std::memory_order_relaxed) < group_count_;
  }

 private:
  /// One thread's part in the grid.
  class Participant;

  void report(const Fault& fault);

  const Dispatch& dispatch_;
  const std::uint64_t group_count_;
  const std::uint64_t block_;
  std::uint64_t deadline_ns_ = 0;

  alignas(64) std::atomic<std::uint64_t> next_ = 0;
  alignas(64) std::atomic<bool> stop_ = false;
  // Set when a worker has no memory for stacks: further ones would not have it either.
  std::atomic<bool> declined_ = false;

  std::mutex fault_mutex_;  // guards fault_
  Fault fault_;
};

class Grid::Participant {
 public:
  Participant(Grid& grid, ThreadState& state) : grid_(grid), state_(state) {
    group_.threadgroup_memory = state.threadgroup_memory();
    kernel_thread.threadgroup_memory = state.threadgroup_memory();
    kernel_thread.fibers = state.fibers();
    state.watch().begin(grid.deadline_ns_);
  }
  ~Participant() {
    state_.watch().end();
    kernel_thread.fibers = nullptr;
    state_.trim();
  }

  /// Runs up to `count` groups; false when there is nothing left to do.
  bool run_block(std::uint64_t count) {
    if (grid_.stop_.load(std::memory_order_relaxed)) {
      return false;
    }
    // Read first, so that threads which come late do not count on for ever.
    if (grid_.next_.load(std::memory_order_relaxed) >= grid_.group_count_) {
      return false;
    }
    first_ = grid_.next_.fetch_add(count, std::memory_order_relaxed);
    if (first_ >= grid_.group_count_) {
      return false;
    }
    end_ = first_ + std::min(count, grid_.group_count_ - first_);
    if (pewter_guarded_call(&state_.execution().resume_point, &run_groups, this,
                            state_.stack_top())) {
      end_with_fault();
      return false;
    }
    return true;
  }

 private:
  static void run_groups(void* argument) {
    auto& self = *static_cast<Participant*>(argument);
    std::atomic<bool>& in_kernel = self.state_.execution().in_kernel;
    in_kernel.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (std::uint64_t i = self.first_;
         i < self.end_ && !self.grid_.stop_.load(std::memory_order_relaxed); ++i) {
      self.run_group(i);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_kernel.store(false, std::memory_order_relaxed);
  }

  void run_group(std::uint64_t index) {
    const abi::Launch& launch = grid_.dispatch_.launch;
    std::uint32_t thread_count = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t groups = launch.threadgroups_per_grid[axis];
      const auto position = static_cast<std::uint32_t>(index % groups);
      index /= groups;
      // Groups at the far edge of a non-uniform grid are smaller.
      const std::uint64_t size = launch.threads_per_threadgroup[axis];
      const std::uint64_t begin = position * size;
      const std::uint64_t threads = launch.threads_per_grid[axis];
      group_.position[axis] = position;
      group_.size[axis] =
          static_cast<std::uint32_t>(std::min(size, threads > begin ? threads - begin : 0));
      thread_count *= group_.size[axis];
    }
    if (thread_count == 0) {
      return;
    }
    const abi::EntryPoint entry = grid_.dispatch_.kernel->entry();
    if (FiberGroup* fibers = state_.fibers()) {
      fibers->run(entry, launch, group_);
    } else {
      entry(&launch, &group_, 0, thread_count);
    }
  }

  void end_with_fault() {
    if (FiberGroup* fibers = state_.fibers()) {
      fibers->abandon();
    }
    Fault fault;
    fault.kind = state_.execution().kind;
    fault.address = state_.execution().address;
    std::copy(std::begin(group_.position), std::end(group_.position), fault.group);
    grid_.report(fault);
  }

  Grid& grid_;
  ThreadState& state_;
  const FloatEnvironment float_environment_;
  abi::Group group_ = {};
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
};

Fault Grid::run() {
  ThreadState& state = ThreadState::current();
  if (!state.prepare(dispatch_)) {
    return Fault{.kind = FaultKind::OutOfMemory};
  }
  const std::uint64_t timeout = timeout_ms();
  deadline_ns_ = timeout == 0 ? 0 : now_ns() + std::min(timeout, kMaxTimeoutMs) * 1'000'000;

  const auto max_helpers =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(thread_count() - 1, group_count_ - 1));
  if (max_helpers > 0) {
    pool().add(*this, max_helpers);
  }
  {
    Participant self(*this, state);
    if (max_helpers > 0) {
      // The first group tells whether the rest is worth a wake-up.
      const std::uint64_t start = now_ns();
      if (self.run_block(1) && now_ns() - start >= kWakeNs / std::min(kWakeNs, group_count_)) {
        pool().wake(max_helpers);
      }
    }
    while (self.run_block(block_)) {
    }
  }
  if (max_helpers > 0) {
    pool().remove(*this);
  }
  return fault_;
}

void Grid::help() {
  ThreadState& state = ThreadState::current();
  if (!state.prepare(dispatch_)) {
    declined_.store(true, std::memory_order_relaxed);
    return;
  }
  Participant self(*this, state);
  while (self.run_block(block_) && !pool().is_contended()) {
  }
}

void Grid::report(const Fault& fault) {
  std::scoped_lock lock(fault_mutex_);
  if (!fault_) {
    fault_ = fault;
  }
  stop_.store(true, std::memory_order_relaxed);
}

}  // namespace

Fault run(const Dispatch& dispatch) {
  const std::uint64_t count = group_count(dispatch.launch);
  for (const std::uint32_t threads : dispatch.launch.threads_per_threadgroup) {
    if (count == 0 || threads == 0) {
      return {};
    }
  }
  return Grid(dispatch, count).run();
}

void post(Task& task) {
  pool().post(task);
}

std::uint32_t thread_count() {
  static const std::uint32_t count = [] {
    const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
    const auto wanted = environment::number("PEWTER_THREADS");
    if (wanted && (*wanted == 0 || *wanted > kMaxThreads)) {
      log::warning("environment", "PEWTER_THREADS={} is not between 1 and {}; using {}", *wanted,
                   kMaxThreads, cores);
      return static_cast<std::uint32_t>(cores);
    }
    return static_cast<std::uint32_t>(wanted.value_or(cores));
  }();
  return count;
}

}  // namespace pewter::executor
