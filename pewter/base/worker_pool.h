#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace pewter {

/// A fixed set of threads that help with jobs and run tasks.
///
/// A job is work that its owner does itself, in pieces that others may take too; a task is run
/// once, by one worker. Nothing here allocates after construction, and nobody waits for a lock:
/// jobs are offered in slots, tasks wait in a ring. An idle worker spins briefly, so that work
/// which follows closely is taken up at once, and then sleeps. Safe to use from any thread.
class WorkerPool {
  struct Slot;

 public:
  /// Work that several threads can share. Must stay where it is between add() and the end of
  /// remove().
  class Job {
   public:
    Job() = default;
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Called on a worker: does pieces of the job until none is left or
    /// `WorkerPool::is_contended()`.
    virtual void help() = 0;

    /// Whether a further helper would find something to do.
    virtual bool has_work() const = 0;

   private:
    friend class WorkerPool;

    // Null while it is not on offer, or when it came at a time when all slots were taken.
    Slot* slot_ = nullptr;
    std::uint32_t max_helpers_ = 0;
    std::atomic<std::uint32_t> helpers_ = 0;
  };

  /// A function to be called once. Its owner may post it again as soon as it has begun to run.
  struct Task {
    void (*run)(Task& task) = nullptr;
    Task* next = nullptr;
  };

  enum class Placement : std::uint8_t { Free, OneCoreEach };

  /// Starts `worker_count` threads, or as many as the system allows.
  explicit WorkerPool(std::uint32_t worker_count, Placement placement = Placement::Free);

  /// Waits for the workers; tasks that have not begun are dropped.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs `task` on a worker, after those posted earlier. It must not be waiting already.
  void post(Task& task);

  /// Whether tasks wait for a worker.
  bool has_tasks() const { return task_count_.load(std::memory_order_relaxed) > 0; }

  /// Offers `job` to workers that are awake, at most `max_helpers` of them at a time.
  void add(Job& job, std::uint32_t max_helpers);

  /// Wakes sleeping workers for the jobs on offer: worth it when more than a few microseconds of
  /// work are left.
  void wake(std::uint32_t count);

  /// Wakes sleeping workers for work that is about to come; they fall asleep again without it.
  void rouse();

  /// Withdraws `job` and waits until no worker is inside it.
  void remove(Job& job);

  /// Withdraws `job`; true when no worker is inside it, and otherwise to be called again.
  bool try_remove(Job& job);

  /// After try_remove() has returned false: posts `task` as soon as no worker is inside `job`.
  void post_when_left(Job& job, Task& task);

  /// Whether several jobs or tasks compete for the workers, so that a helper should let the pool
  /// choose again.
  bool is_contended() const {
    return std::popcount(offered_.load(std::memory_order_relaxed)) > 1 || has_tasks();
  }

  std::uint32_t worker_count() const { return static_cast<std::uint32_t>(workers_.size()); }

 private:
  static constexpr std::size_t kSlots = 64;
  static constexpr std::size_t kRingSize = 1024;

  /// A place for a job. Whoever looks at the job counts as a user before, so that the owner, who
  /// clears the pointer before it reads the count, knows when nobody can be inside.
  struct alignas(64) Slot {
    std::atomic<Job*> job = nullptr;
    std::atomic<std::uint32_t> users = 0;
    std::atomic<Task*> when_left = nullptr;
  };

  /// A place in the ring. `turn` tells which lap may write or read it next.
  struct Cell {
    std::atomic<std::size_t> turn;
    Task* task;
  };

  void work(std::uint32_t index);
  bool run_something(std::uint32_t& next_slot);
  bool help(Slot& slot);
  void leave(Slot& slot);
  bool spin(std::uint32_t seen_epoch);

  bool push(Task& task);
  void push_overflow(Task& task);
  Task* pop();
  Task* pop_overflow();

  // Raised whenever there is something to do; sleeping workers wait for it to change.
  alignas(64) std::atomic<std::uint32_t> epoch_ = 0;
  std::atomic<std::uint32_t> spinning_ = 0;
  std::atomic<std::uint32_t> sleeping_ = 0;
  std::atomic<bool> stopping_ = false;

  // A bit for each slot: taken by an owner; holds a job for workers.
  alignas(64) std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint64_t> offered_ = 0;
  std::array<Slot, kSlots> slots_;

  alignas(64) std::atomic<std::size_t> push_position_ = 0;
  alignas(64) std::atomic<std::size_t> pop_position_ = 0;
  std::atomic<std::uint32_t> task_count_ = 0;
  std::array<Cell, kRingSize> ring_;

  // Only for tasks that find the ring full.
  std::atomic<std::uint32_t> overflow_count_ = 0;
  std::mutex overflow_mutex_;  // guards the members below and the links of tasks
  Task* first_overflow_ = nullptr;
  Task* last_overflow_ = nullptr;

  std::vector<std::thread> workers_;
};

/// Waits until `value` is zero: spins for a few tens of microseconds, then sleeps.
void wait_until_zero(const std::atomic<std::uint32_t>& value);

}  // namespace pewter
