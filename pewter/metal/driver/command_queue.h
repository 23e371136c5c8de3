#pragma once

#include <Metal/MTLCommandBuffer.hpp>
#include <Metal/MTLCommandQueue.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/callback_thread.h"
#include "pewter/metal/driver/command_storage.h"
#include "pewter/metal/driver/deadline_timer.h"
#include "pewter/metal/driver/event.h"
#include "pewter/metal/executor/grid_run.h"

namespace pewter::driver {

class CommandBuffer;
class LogState;

/// The body of MTL::CommandQueue: runs command buffers one after another, in the order in which
/// they were enqueued.
///
/// Whoever takes the drive flag runs what is ready: a worker after commit(), or the thread that
/// waits for a command buffer. A worker that other queues are waiting for hands the queue on, even
/// in the middle of a grid, and comes back to it in turn. A queue whose first command buffer waits
/// for an event is parked and keeps no thread; the event, or a deadline, starts it again. Safe to
/// use from any thread.
class CommandQueue final : public Object {
 public:
  using Public = MTL::CommandQueue;
  static constexpr ClassInfo kClass{"MTL::CommandQueue", &Object::kClass};

  explicit CommandQueue(std::uint64_t max_command_buffers);

  /// Waits while as many command buffers as the queue allows are committed and not completed.
  Ref<CommandBuffer> new_command_buffer(bool retains_references,
                                        MTL::CommandBufferErrorOption error_options);

  /// Gives a command buffer its place in the order.
  void enqueue(CommandBuffer& buffer);
  /// Gives it a place unless it has one, and hands the queue to a worker.
  void commit(CommandBuffer& buffer);
  /// Frees the place of one that is destroyed without having been committed.
  void forget(CommandBuffer& buffer);

  /// Runs what is ready, until nothing is or `until` is completed. Returns at once when another
  /// thread does it.
  void drive(const CommandBuffer* until = nullptr) { drive(until, false); }

  /// For the command buffer that is being driven: true when the event has the value; otherwise the
  /// queue is parked and the command buffer must return.
  bool wait_for(Event& event, std::uint64_t value);
  /// Whether the last wait took longer than the limit; asking forgets it.
  bool has_expired() { return has_expired_.exchange(false); }

  CallbackThread& callbacks() { return callbacks_; }

  /// Counts a thread as one that waits for a command buffer.
  class Waiting {
   public:
    explicit Waiting(CommandQueue& queue) : queue_(queue) { ++queue_.waiting_; }
    ~Waiting() { --queue_.waiting_; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    CommandQueue& queue_;
  };
  /// Whoever waited for a command buffer that was under way will probably do so again.
  void expect_waiter() { expects_waiter_.store(true, std::memory_order_relaxed); }
  /// After a command buffer for which nobody waits: perhaps somebody does for one behind it.
  void expect_no_waiter() {
    if (waiting_.load(std::memory_order_relaxed) == 0) {
      expects_waiter_.store(false, std::memory_order_relaxed);
    }
  }

  Ref<String> label;
  /// For command buffers that have none of their own; may be null.
  Ref<LogState> log_state;

 private:
  /// The parts of the queue that others hold on to, with the way back.
  struct DriveTask : executor::Task {
    CommandQueue* queue = nullptr;
  };
  struct ParkedWaiter : EventWaiter {
    CommandQueue* queue = nullptr;
  };
  struct ParkedDeadline : Deadline {
    CommandQueue* queue = nullptr;
  };

  static void run_task(executor::Task& task);
  static void on_event(EventWaiter& waiter);
  static void on_deadline(Deadline& deadline);

  void append(CommandBuffer& buffer);
  void remove(CommandBuffer& buffer);
  void mark_scheduled();
  CommandBuffer* ready();
  void hand_to_worker();
  void drive(const CommandBuffer* until, bool is_worker);
  enum class Outcome : std::uint8_t { NothingReady, TargetReached, Yielded };
  Outcome run_ready(const CommandBuffer* until, bool is_worker);
  void finish(CommandBuffer& buffer);
  std::unique_ptr<CommandStorage> take_storage();

  const std::uint64_t max_command_buffers_;
  DriveTask task_;
  std::atomic<bool> is_posted_ = false;
  std::atomic<bool> is_driven_ = false;
  std::atomic<bool> expects_waiter_ = false;
  std::atomic<std::uint32_t> waiting_ = 0;

  // Belong to the thread that drives, or to the one that wakes a parked queue.
  executor::GridRun run_;
  ParkedWaiter waiter_;
  ParkedDeadline deadline_;
  Event* awaited_ = nullptr;
  std::atomic<bool> has_expired_ = false;
  std::atomic<bool> is_parked_ = false;

  std::mutex mutex_;  // guards the members below and the links of command buffers
  CommandBuffer* first_ = nullptr;
  CommandBuffer* last_ = nullptr;
  CommandBuffer* first_unscheduled_ = nullptr;
  std::uint64_t in_flight_ = 0;
  std::vector<std::unique_ptr<CommandStorage>> spare_storage_;

  CallbackThread callbacks_;
};

}  // namespace pewter::driver
