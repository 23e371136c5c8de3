#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace pewter {

/// A fixed set of threads that help with jobs and run tasks.
///
/// A job is work that its owner does itself, in pieces that others may take too; a task is run
/// once, by one worker. Nothing here allocates after construction: jobs and tasks are linked
/// through their own members. An idle worker spins briefly, so that work which follows closely is
/// taken up at once, and then sleeps. Safe to use from any thread.
class WorkerPool {
 public:
  /// Work that several threads can share. Lives on its owner's stack between add() and remove().
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

    // Guarded by the pool's mutex.
    Job* previous_ = nullptr;
    Job* next_ = nullptr;
    std::uint32_t max_helpers_ = 0;
    std::uint32_t helpers_ = 0;

    // Follows helpers_, for the owner who waits without the mutex.
    std::atomic<std::uint32_t> helpers_inside_ = 0;
  };

  /// A function to be called once. Its owner may post it again as soon as it has begun to run.
  struct Task {
    void (*run)(Task& task) = nullptr;
    Task* next = nullptr;
  };

  /// Starts `worker_count` threads, or as many as the system allows.
  explicit WorkerPool(std::uint32_t worker_count);

  /// Waits for the workers; tasks that have not begun are dropped.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs `task` on a worker, after those posted earlier. It must not be waiting already.
  void post(Task& task);

  /// Offers `job` to workers that are awake, at most `max_helpers` of them at a time.
  void add(Job& job, std::uint32_t max_helpers);

  /// Wakes sleeping workers for the jobs on offer: worth it when more than a few microseconds of
  /// work are left.
  void wake(std::uint32_t count);

  /// Withdraws `job` and waits until no worker is inside it.
  void remove(Job& job);

  /// Whether several jobs compete for the workers, so that a helper should let the pool choose
  /// again.
  bool is_contended() const { return job_count_.load(std::memory_order_relaxed) > 1; }

  std::uint32_t worker_count() const { return static_cast<std::uint32_t>(workers_.size()); }

 private:
  void work();
  bool run_something();
  bool spin(std::uint32_t seen_epoch);

  // Raised whenever there is something to do; sleeping workers wait for it to change.
  std::atomic<std::uint32_t> epoch_ = 0;
  std::atomic<std::uint32_t> spinning_ = 0;
  std::atomic<std::uint32_t> sleeping_ = 0;
  std::atomic<std::uint32_t> job_count_ = 0;
  std::atomic<bool> stopping_ = false;

  std::mutex mutex_;  // guards the members below and the links of jobs and tasks
  Job* first_job_ = nullptr;
  Job* last_job_ = nullptr;
  Task* first_task_ = nullptr;
  Task* last_task_ = nullptr;

  std::vector<std::thread> workers_;
};

/// Waits until `value` is zero: spins for a few tens of microseconds, then sleeps.
void wait_until_zero(const std::atomic<std::uint32_t>& value);

}  // namespace pewter
