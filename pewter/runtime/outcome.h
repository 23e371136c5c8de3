#pragma once

#include <atomic>
#include <string>

namespace pewter::runtime {

/// What becomes of one task of a stream, for whoever depends on it after the stream has forgotten
/// it.
///
/// One thread ends it; the rest is safe from any thread.
class Outcome {
 public:
  enum class State : int { Pending, Done, Failed };

  State state() const { return state_.load(std::memory_order_acquire); }

  /// Ends the task: with a failure, of which the first one counts, or without.
  void fail(std::string failure);
  void finish();

  /// Waits for the end of a task that was submitted.
  void wait() const;

  /// Throws std::runtime_error with the failure, if there is one.
  void raise() const;
  /// The same, unless somebody has seen the failure.
  void raise_unseen() const;
  /// Its text; empty unless the task has failed.
  const std::string& failure() const;
  bool was_seen() const { return was_seen_.load(std::memory_order_relaxed); }

 private:
  void end(State state);

  std::atomic<State> state_ = State::Pending;
  mutable std::atomic<bool> was_seen_ = false;
  std::string failure_;  // not written to after state_ is Failed
};

}  // namespace pewter::runtime
