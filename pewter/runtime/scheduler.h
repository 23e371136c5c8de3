#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace pewter::runtime {

/// Counts the tasks in flight on all streams, and lets threads wait for them.
///
/// A task is a submitted command buffer. Every wait on another stream refers to work that is
/// submitted already (Stream::wait_for sees to it), so tasks never wait for the host and waiting
/// for one cannot deadlock. Two things outside its reach are met all the same: a thread that runs a
/// task's completion never waits, and when no task completes for kStallLimit the wait gives up, so
/// that a command buffer which a program made wait for its own later signal costs time, not life.
class Scheduler {
 public:
  /// More tasks than these in flight hold back the thread that submits.
  static constexpr std::size_t kMaxTasksInFlight = 10;

  static Scheduler& instance();

  void task_submitted();
  /// Called on the thread that completes tasks.
  void task_completed();

  std::size_t tasks_in_flight() const { return in_flight_.load(std::memory_order_acquire); }

  /// Blocks until `enough` is true, no task is in flight, or tasks have stopped completing. False
  /// when it gave up for the last reason, or when the thread may not wait.
  bool wait_until(const std::function<bool()>& enough);

  /// Blocks while more than kMaxTasksInFlight are in flight.
  void hold_back();

  /// While it lives, wait_until() on this thread returns at once.
  class CompletionScope {
   public:
    CompletionScope();
    ~CompletionScope();
    CompletionScope(const CompletionScope&) = delete;
    CompletionScope& operator=(const CompletionScope&) = delete;

    /// Whether the calling thread is inside of one.
    static bool is_current();

   private:
    bool before_;
  };

 private:
  Scheduler() = default;

  std::atomic<std::size_t> in_flight_ = 0;
  std::mutex mutex_;
  std::condition_variable completion_;
  std::uint64_t completions_ = 0;  // guarded by mutex_
};

}  // namespace pewter::runtime
