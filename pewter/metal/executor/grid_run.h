#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "pewter/base/worker_pool.h"
#include "pewter/metal/executor/executor.h"

namespace pewter::executor {

class ThreadState;

/// A dispatch on its way through a GridRun. Linked through `next`, grids are independent of each
/// other.
struct Grid {
  const Dispatch* dispatch = nullptr;
  Grid* next = nullptr;

  // The run's own: groups, and the blocks of groups that threads claim.
  std::uint64_t group_count = 0;
  std::uint64_t block_groups = 0;
  std::uint64_t first_block = 0;
  std::uint64_t end_block = 0;
  std::atomic<std::uint64_t> start_ns = 0;
};

/// Runs one grid, or several at the same time, on the worker threads and those who call advance().
///
/// Groups are claimed in blocks. Each thread begins with a share of blocks that follow each other,
/// and with the same one whenever it runs on the same core, whose caches may have their memory
/// still. Then it helps with the others'. Groups of kernels with atomics, which may wait for those
/// before them, are claimed in order by all threads. Small grids are run on the spot, without
/// telling anybody. One object serves run after run and allocates nothing. Used by one thread at a
/// time, not always the same.
class GridRun final : private WorkerPool::Job {
 public:
  /// Begins with `first` and those linked to it, which must stay until the run has ended. The run
  /// before must have ended.
  void start(Grid& first);

  /// Takes part until all grids have ended. With `may_yield`, returns false when tasks are waiting
  /// for the thread; then the run goes on with those who help, and somebody has to call advance()
  /// again. The caller has a FloatEnvironment.
  bool advance(bool may_yield);

  /// After advance() has returned false: posts `task` when there is something for the next caller
  /// to do.
  void post_continuation(Task& task);

  /// Why the run ended early. A fault drops the groups of all its grids that have not started.
  const Fault& fault() const { return fault_; }
  /// The dispatch that `fault()` is about; null when there is none.
  const Dispatch* faulted() const { return faulted_; }

 private:
  /// One thread's part in the run.
  class Participant;

  /// Blocks that follow each other.
  struct Share {
    std::atomic<std::uint64_t> next_block = 0;
    std::uint64_t end_block = 0;
    std::atomic<bool> is_taken = false;
    // No two counters are on one cache line: each is mostly one thread's.
    [[maybe_unused]] std::byte padding[47];

    bool is_claimed() const { return next_block.load(std::memory_order_relaxed) >= end_block; }
  };

  // With more threads several have one share, and are still far from each other.
  static constexpr std::uint32_t kMaxShares = 16;

  void help() override;
  bool has_work() const override;
  void divide();
  /// The share that the calling thread begins with, which is taken until it is given back.
  Share& take_share();
  Share* share_behind(Share* share) {
    return share == &shares_[share_count_ - 1] ? &shares_[0] : share + 1;
  }
  /// Takes `block` of `share`, unless somebody has claimed it.
  bool claim(Share& share, std::uint64_t block);
  /// Whether it is one block, which one thread runs without a pause.
  bool is_brief() const { return block_count_ == 1; }
  bool is_stopped() const { return stop_.load(std::memory_order_relaxed); }
  void offer(bool wakes);
  bool finish(bool may_yield);
  std::uint64_t deadline_of(Grid& grid, std::uint64_t now) const;
  void report(const Fault& fault, const Dispatch* dispatch);

  Grid* first_ = nullptr;
  std::uint64_t block_count_ = 0;
  std::uint64_t timeout_ns_ = 0;
  std::uint32_t max_helpers_ = 0;
  bool is_offered_ = false;
  // Time between turns does not count against the limit.
  std::uint64_t left_at_ns_ = 0;
  std::atomic<std::uint64_t> paused_ns_ = 0;

  std::array<Share, kMaxShares> shares_;
  std::uint32_t share_count_ = 0;
  std::atomic<bool> stop_ = false;
  // Set when a worker has no memory for stacks: further ones would not have it either.
  std::atomic<bool> declined_ = false;

  std::mutex fault_mutex_;  // guards the members below until the run has ended
  Fault fault_;
  const Dispatch* faulted_ = nullptr;
};

/// The threads that run kernels.
WorkerPool& worker_pool();

}  // namespace pewter::executor
