#include "pewter/metal/executor/grid_run.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "pewter/base/float_environment.h"
#include "pewter/base/spin.h"
#include "pewter/base/thread.h"
#include "pewter/metal/executor/guarded_call.h"
#include "pewter/metal/executor/kernel_thread.h"
#include "pewter/metal/executor/thread_state.h"

namespace pewter::executor {
namespace {

constexpr std::uint64_t kBlocksPerThread = 16;
constexpr std::uint64_t kMaxBlock = 1024;
// While nothing is known of the kernel.
constexpr std::uint64_t kMaxUnknownBlock = 16;
// Work that is worth telling a spinning worker about, and the wake-up of a sleeping one.
constexpr std::uint64_t kOfferNs = 5'000;
constexpr std::uint64_t kWakeNs = 20'000;
// How long one run may keep a worker while tasks are waiting.
constexpr std::uint64_t kTurnNs = 1'000'000;
// Groups of one call, each of them brief: whether the run has been stopped is asked in between.
constexpr std::uint32_t kMaxRowGroups = 64;
// About a year; more would not fit the clock.
constexpr std::uint64_t kMaxTimeoutMs = std::uint64_t(1) << 35;

/// Puts what streaming stores wrote before whatever this thread tells others from now on.
void finish_streaming_stores() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

/// Nanoseconds that this thread has run for: whoever else had the processor does not count.
std::uint64_t thread_ns() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Number of groups. Beyond 64 bits it makes no difference: nobody lives to see the end.
std::uint64_t group_count(const abi::Launch& launch) {
  std::uint64_t count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t groups = launch.threadgroups_per_grid[axis];
    if (groups == 0 || launch.threads_per_threadgroup[axis] == 0) {
      return 0;
    }
    if (__builtin_mul_overflow(count, groups, &count)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return count;
}

/// What a group took in the grid before; 0 when nothing is known.
std::uint64_t known_group_ns(const Grid& grid) {
  const auto* known = grid.dispatch->group_ns;
  return known != nullptr ? known->load(std::memory_order_relaxed) : 0;
}

/// What a grid will probably take, but no more than kWakeNs; kWakeNs when nothing is known.
std::uint64_t estimated_ns(const Grid& grid) {
  const std::uint64_t group_ns = known_group_ns(grid);
  if (group_ns == 0 || grid.group_count > kWakeNs) {
    return kWakeNs;
  }
  return std::min(kWakeNs, grid.group_count * group_ns);
}

/// Enough blocks to go round, none so long that others would have to wait for it.
std::uint64_t block_groups(const Grid& grid) {
  if (grid.group_count <= 1) {
    return 1;
  }
  const std::uint64_t group_ns = known_group_ns(grid);
  const std::uint64_t limit = group_ns == 0
                                  ? kMaxUnknownBlock
                                  : std::clamp<std::uint64_t>(kTurnNs / group_ns, 1, kMaxBlock);
  return std::clamp<std::uint64_t>(grid.group_count / (thread_count() * kBlocksPerThread), 1,
                                   limit);
}

bool any_uses_atomics(const Grid* grid) {
  for (; grid != nullptr; grid = grid->next) {
    if (grid->dispatch->kernel->traits().uses_atomics) {
      return true;
    }
  }
  return false;
}

}  // namespace

class GridRun::Participant {
 public:
  /// `is_owner`: the thread that advances the run, not one that helps.
  Participant(GridRun& run, ThreadState& state, bool is_owner)
      : run_(run), state_(state), is_owner_(is_owner), own_share_(run.take_share()) {}
  ~Participant() {
    leave_grid();
    own_share_.is_taken.store(false, std::memory_order_relaxed);
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  /// Runs a block of groups; false when there is nothing left to do, or no memory to do it.
  bool run_block() {
    std::uint64_t block = 0;
    if (!claim_block(block)) {
      return false;
    }
    const std::uint64_t first = (block - grid_->first_block) * grid_->block_groups;
    const std::uint64_t end = first + std::min(grid_->block_groups, grid_->group_count - first);
    const Dispatch& dispatch = *grid_->dispatch;
    if (dispatch.rival == nullptr) {
      return run_range(first, end, dispatch.kernel);
    }
    Trial& trial = *dispatch.trial;
    if (run_.is_brief() || !trial.is_due()) {
      return run_range(first, end, trial.prefers_rival() ? dispatch.rival : dispatch.kernel);
    }
    return run_by_both(first, end);
  }

  /// The dispatch that there is no memory for; null when there was always enough.
  const Dispatch* refused() const { return refused_; }

  /// Nanoseconds since this thread has come to the grid that it is in.
  std::uint64_t grid_ns() const { return now_ns() - entered_ns_; }

 private:
  bool run_range(std::uint64_t first, std::uint64_t end, const LoadedKernel* kernel) {
    first_ = first;
    end_ = end;
    kernel_ = kernel;
    if (pewter_guarded_call(&state_.execution().resume_point, &run_groups, this,
                            state_.stack_top())) {
      end_with_fault();
      return false;
    }
    groups_done_ += end - first;
    return true;
  }

  /// A part by the rival, the rest by the kernel, and tells what they took.
  bool run_by_both(std::uint64_t first, std::uint64_t end) {
    const Dispatch& dispatch = *grid_->dispatch;
    const std::uint64_t rival_groups =
        dispatch.trial->rival_groups(end - first, known_group_ns(*grid_));
    const std::uint64_t begin_ns = thread_ns();
    if (rival_groups > 0 && !run_range(first, first + rival_groups, dispatch.rival)) {
      return false;
    }
    const std::uint64_t middle_ns = thread_ns();
    if (first + rival_groups < end && !run_range(first + rival_groups, end, dispatch.kernel)) {
      return false;
    }
    dispatch.trial->add(end - first - rival_groups, thread_ns() - middle_ns, rival_groups,
                        middle_ns - begin_ns);
    return true;
  }

  bool claim_block(std::uint64_t& block) {
    for (std::uint32_t ended = 0; ended < run_.share_count_ && !run_.is_stopped();) {
      block = share_->next_block.load(std::memory_order_relaxed);
      if (block >= share_->end_block) {
        share_ = run_.share_behind(share_);
        ++ended;
        continue;
      }
      // Claimed only once there is memory to run it.
      if (!enter_grid_of(block)) {
        return false;
      }
      if (run_.claim(*share_, block)) {
        return true;
      }
    }
    return false;
  }

  bool enter_grid_of(std::uint64_t block) {
    Grid* grid = grid_ != nullptr && block >= grid_->first_block ? grid_ : run_.first_;
    while (block >= grid->end_block) {
      grid = grid->next;
    }
    if (grid == grid_) {
      return true;
    }
    leave_grid();
    if (!state_.prepare(*grid->dispatch)) {
      refused_ = grid->dispatch;
      return false;
    }
    grid_ = grid;
    const abi::Launch& launch = grid->dispatch->launch;
    whole_groups_ = launch.threads_per_grid[0] / launch.threads_per_threadgroup[0];
    group_.row_groups = 1;
    group_.row_group = 0;
    group_.threadgroup_memory = state_.threadgroup_memory();
    group_.program_memory = state_.program_memory();
    kernel_thread.threadgroup_memory = state_.threadgroup_memory();
    kernel_thread.fibers = state_.fibers();
    entered_ns_ = run_.is_brief() ? coarse_now_ns() : now_ns();
    state_.watch().begin(run_.deadline_of(*grid, entered_ns_));
    return true;
  }

  /// Remembers what a group has taken here, for the next grid of the kernel.
  void record_cost() const {
    if (!is_owner_ || groups_done_ == 0 || grid_->dispatch->group_ns == nullptr ||
        run_.is_brief()) {
      return;
    }
    if (Trial* trial = grid_->dispatch->trial) {
      trial->add_grid_ns(grid_ns());
    }
    const std::uint64_t taken = grid_ns() / groups_done_;
    grid_->dispatch->group_ns->store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                                         taken, 1, std::numeric_limits<std::uint32_t>::max())),
                                     std::memory_order_relaxed);
  }

  void leave_grid() {
    if (grid_ != nullptr) {
      record_cost();
      state_.watch().end();
      kernel_thread.fibers = nullptr;
      state_.trim();
      grid_ = nullptr;
      groups_done_ = 0;
    }
  }

  static void run_groups(void* argument) {
    auto& self = *static_cast<Participant*>(argument);
    std::atomic<bool>& in_kernel = self.state_.execution().in_kernel;
    in_kernel.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    self.go_to_group(self.first_);
    for (std::uint64_t i = self.first_; i < self.end_ && !self.run_.is_stopped();) {
      i += self.run_row(self.end_ - i);
      self.go_to_next_group();
    }
    if (self.grid_->dispatch->launch.streams != 0) {
      finish_streaming_stores();
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_kernel.store(false, std::memory_order_relaxed);
  }

  void go_to_group(std::uint64_t index) {
    for (int axis = 0; axis < 3; ++axis) {
      if (index == 0) {
        set_position(axis, 0);
        continue;
      }
      const std::uint64_t groups = grid_->dispatch->launch.threadgroups_per_grid[axis];
      set_position(axis, static_cast<std::uint32_t>(index % groups));
      index /= groups;
    }
  }

  /// Without divisions, which take longer than a small group.
  void go_to_next_group() {
    const std::uint32_t(&groups)[3] = grid_->dispatch->launch.threadgroups_per_grid;
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint32_t position = group_.position[axis] + 1;
      if (position < groups[axis]) {
        set_position(axis, position);
        return;
      }
      set_position(axis, 0);
    }
  }

  void set_position(int axis, std::uint32_t position) {
    // Groups at the far edge of a non-uniform grid are smaller.
    const abi::Launch& launch = grid_->dispatch->launch;
    const std::uint64_t size = launch.threads_per_threadgroup[axis];
    const std::uint64_t begin = position * size;
    const std::uint64_t threads = launch.threads_per_grid[axis];
    group_.position[axis] = position;
    group_.size[axis] =
        static_cast<std::uint32_t>(std::min(size, threads > begin ? threads - begin : 0));
  }

  /// Runs this group and those behind it in its row, at most `limit` together, and returns how
  /// many. Groups of whole size, which differ in one number, take little more than their call.
  std::uint64_t run_row(std::uint64_t limit) {
    const abi::Launch& launch = grid_->dispatch->launch;
    const std::uint32_t(&size)[3] = launch.threads_per_threadgroup;
    const std::uint32_t first = group_.position[0];
    if (first >= whole_groups_ || group_.size[1] != size[1] || group_.size[2] != size[2] ||
        kernel_->traits().needs_fibers) {
      run_group();
      return 1;
    }
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, whole_groups_ - first));
    const std::uint32_t thread_count = size[0] * size[1] * size[2];
    const abi::EntryPoint entry = kernel_->entry();
    const std::uint32_t together = kernel_->traits().takes_rows ? kMaxRowGroups : 1;
    for (std::uint32_t i = 0; i < count && !run_.is_stopped(); i += together) {
      group_.position[0] = first + i;
      group_.row_groups = std::min(together, count - i);
      entry(&launch, &group_, 0, thread_count);
    }
    group_.position[0] = first + count - 1;
    group_.row_groups = 1;
    return count;
  }

  void run_group() {
    const abi::Launch& launch = grid_->dispatch->launch;
    const std::uint32_t(&size)[3] = launch.threads_per_threadgroup;
    const std::uint32_t thread_count = group_.size[0] * group_.size[1] * group_.size[2];
    if (thread_count == 0) {
      return;
    }
    const bool is_smaller = thread_count < size[0] * size[1] * size[2];
    const Dispatch& dispatch = *grid_->dispatch;
    const bool has_edge_kernel = kernel_ == dispatch.kernel && dispatch.edge_kernel != nullptr;
    const LoadedKernel* kernel = is_smaller && has_edge_kernel ? dispatch.edge_kernel : kernel_;
    const abi::EntryPoint entry = kernel->entry();
    if (FiberGroup* fibers = kernel->traits().needs_fibers ? state_.fibers() : nullptr) {
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
    fault.group[0] += group_.row_group;
    run_.report(fault, grid_->dispatch);
  }

  GridRun& run_;
  ThreadState& state_;
  const bool is_owner_;
  Share& own_share_;
  Share* share_ = &own_share_;
  Grid* grid_ = nullptr;
  /// Of a row of the grid: those before its last, smaller one.
  std::uint32_t whole_groups_ = 0;
  abi::Group group_ = {};
  // What run_groups() runs.
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  const LoadedKernel* kernel_ = nullptr;
  std::uint64_t entered_ns_ = 0;
  std::uint64_t groups_done_ = 0;
  const Dispatch* refused_ = nullptr;
};

void GridRun::start(Grid& first) {
  first_ = &first;
  block_count_ = 0;
  std::uint64_t total_ns = 0;
  for (Grid* grid = &first; grid != nullptr; grid = grid->next) {
    grid->group_count = group_count(grid->dispatch->launch);
    grid->block_groups = block_groups(*grid);
    grid->first_block = block_count_;
    // Rounded up without overflow.
    block_count_ += grid->group_count / grid->block_groups +
                    (grid->group_count % grid->block_groups != 0 ? 1 : 0);
    grid->end_block = block_count_;
    grid->start_ns.store(0, std::memory_order_relaxed);
    total_ns = std::min(kWakeNs, total_ns + estimated_ns(*grid));
  }
  const std::uint64_t timeout = timeout_ms();
  timeout_ns_ = std::min(timeout, kMaxTimeoutMs) * 1'000'000;
  paused_ns_.store(0, std::memory_order_relaxed);
  left_at_ns_ = 0;
  max_helpers_ = block_count_ == 0 ? 0
                                   : static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                         thread_count() - 1, block_count_ - 1));
  is_offered_ = false;
  divide();
  stop_.store(false, std::memory_order_relaxed);
  declined_.store(false, std::memory_order_relaxed);
  fault_ = {};
  faulted_ = nullptr;
  if (max_helpers_ > 0 && total_ns >= kOfferNs) {
    offer(total_ns >= kWakeNs);
  }
}

/// Gives each thread that may come a share.
void GridRun::divide() {
  // Where groups wait for those before them, the only thread that comes must not begin behind
  // these.
  share_count_ = any_uses_atomics(first_) ? 1 : std::min(max_helpers_ + 1, kMaxShares);
  const std::uint64_t blocks = block_count_ / share_count_;
  const std::uint64_t longer = block_count_ % share_count_;
  std::uint64_t first = 0;
  for (std::uint32_t i = 0; i < share_count_; ++i) {
    Share& share = shares_[i];
    share.next_block.store(first, std::memory_order_relaxed);
    first += blocks + (i < longer ? 1 : 0);
    share.end_block = first;
  }
}

GridRun::Share& GridRun::take_share() {
  if (share_count_ == 1) {
    return shares_[0];
  }
  // Neighbours have neighbouring shares: they may have a cache together.
  const std::uint32_t cores = core_count();
  Share* const preferred = &shares_[current_core() % cores * share_count_ / cores];
  Share* share = preferred;
  do {
    if (!share->is_taken.exchange(true, std::memory_order_relaxed)) {
      return *share;
    }
    share = share_behind(share);
  } while (share != preferred);
  return *preferred;
}

void GridRun::offer(bool wakes) {
  is_offered_ = true;
  worker_pool().add(*this, max_helpers_);
  if (wakes) {
    worker_pool().wake(max_helpers_);
  }
}

bool GridRun::advance(bool may_yield) {
  if (left_at_ns_ != 0) {
    paused_ns_.fetch_add(now_ns() - left_at_ns_, std::memory_order_relaxed);
    left_at_ns_ = 0;
  }
  {
    Participant self(*this, ThreadState::current(), true);
    std::uint64_t turn_end_ns = 0;
    bool is_first_block = true;
    while (self.run_block()) {
      if (is_first_block && !is_offered_ && max_helpers_ > 0 && self.grid_ns() >= kOfferNs) {
        // It takes longer than the last time.
        offer(true);
      }
      is_first_block = false;
      if (may_yield && worker_pool().has_tasks()) {
        const std::uint64_t now = now_ns();
        turn_end_ns = turn_end_ns == 0 ? now + kTurnNs : turn_end_ns;
        if (now >= turn_end_ns && has_work()) {
          left_at_ns_ = now;
          break;
        }
      }
    }
    if (self.refused() != nullptr) {
      report({.kind = FaultKind::OutOfMemory}, self.refused());
    }
  }
  return left_at_ns_ == 0 && finish(may_yield);
}

bool GridRun::finish(bool may_yield) {
  if (!is_offered_) {
    return true;
  }
  if (may_yield) {
    return spin_until([this] { return worker_pool().try_remove(*this); });
  }
  worker_pool().remove(*this);
  return true;
}

void GridRun::post_continuation(Task& task) {
  if (left_at_ns_ != 0 || !is_offered_) {
    worker_pool().post(task);
  } else {
    worker_pool().post_when_left(*this, task);
  }
}

void GridRun::help() {
  const FloatEnvironment float_environment;
  Participant self(*this, ThreadState::current(), false);
  while (self.run_block() && !worker_pool().is_contended()) {
  }
  if (self.refused() != nullptr) {
    declined_.store(true, std::memory_order_relaxed);
  }
}

bool GridRun::claim(Share& share, std::uint64_t block) {
  if (max_helpers_ == 0) {
    share.next_block.store(block + 1, std::memory_order_relaxed);
    return true;
  }
  return share.next_block.compare_exchange_weak(block, block + 1, std::memory_order_relaxed);
}

bool GridRun::has_work() const {
  return !is_stopped() && !declined_.load(std::memory_order_relaxed) &&
         std::any_of(shares_.begin(), shares_.begin() + share_count_,
                     [](const Share& share) { return !share.is_claimed(); });
}

std::uint64_t GridRun::deadline_of(Grid& grid, std::uint64_t now) const {
  if (timeout_ns_ == 0) {
    return 0;
  }
  if (is_brief()) {
    return now + kCoarseLagNs + timeout_ns_;
  }
  std::uint64_t start = 0;
  if (grid.start_ns.compare_exchange_strong(start, now, std::memory_order_relaxed)) {
    start = now;
  }
  return start + timeout_ns_ + paused_ns_.load(std::memory_order_relaxed);
}

void GridRun::report(const Fault& fault, const Dispatch* dispatch) {
  std::scoped_lock lock(fault_mutex_);
  if (!fault_) {
    fault_ = fault;
    faulted_ = dispatch;
  }
  stop_.store(true, std::memory_order_relaxed);
}

}  // namespace pewter::executor
