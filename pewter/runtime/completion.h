#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pewter/runtime/buffer.h"
#include "pewter/runtime/outcome.h"

namespace pewter::runtime {

/// What a task holds until it has completed.
struct Task {
  std::uint64_t number = 0;
  std::shared_ptr<Outcome> outcome;
  std::vector<Buffer> buffers;
  std::vector<std::function<void()>> handlers;
  /// Whether a handler computes what later tasks wait for.
  bool computes_on_host = false;
};

/// What is known of the tasks that a stream has submitted. It outlives the stream while they run.
///
/// Safe to use from any thread.
class Completion {
 public:
  /// Adds a task, in the order in which they are submitted.
  void submitted(const Task& task, NS::SharedPtr<MTL::CommandBuffer> command_buffer);
  /// Ends the oldest task: notes its failure, lets go of what it held, runs its handlers.
  void completed(Task& task, const MTL::CommandBuffer& command_buffer);

  /// Notes a failure; the first one counts.
  void fail(const std::string& message);
  /// Throws std::runtime_error with the first failure that nobody has seen, and forgets it.
  void raise_failure();

  /// Waits until every task up to `task` has completed.
  void wait(std::uint64_t task);
  std::uint64_t last_submitted() const;
  std::uint64_t last_completed() const;
  /// Whether nothing is in flight and no failure waits to be seen.
  bool settled() const;

 private:
  struct InFlight {
    NS::SharedPtr<MTL::CommandBuffer> command_buffer;
    bool computes_on_host = false;
  };

  void note_failure(std::shared_ptr<const Outcome> failure);
  std::vector<NS::SharedPtr<MTL::CommandBuffer>> to_wait_for(std::uint64_t task) const;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<InFlight> in_flight_;
  std::uint64_t last_submitted_ = 0;
  std::uint64_t last_completed_ = 0;
  std::shared_ptr<const Outcome> failure_;
};

}  // namespace pewter::runtime
