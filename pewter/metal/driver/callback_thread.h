#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "pewter/base/process_instance.h"

namespace pewter::driver {

/// Calls functions of the program one after another, on a thread that is started when it is needed.
///
/// They run here and not where the event occurred, because they may block, and nothing else must
/// wait for them. A thread that waits for one of them anyway calls it itself. Safe to use from any
/// thread.
class CallbackThread {
 public:
  CallbackThread() = default;
  /// Functions that are waiting are still called.
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  enum class Caller : std::uint8_t { Thread, WaitingThread };

  /// Lets `function` be called after those before it. One that is left to a waiting thread stays
  /// until that comes to help_until_zero(), or until the thread is awake anyway.
  void call(std::function<void()> function, Caller caller = Caller::Thread);

  /// Calls functions until one of them, called here or elsewhere, has made `pending` zero.
  void help_until_zero(const std::atomic<std::uint32_t>& pending);

  /// Whether the calling thread is inside such a function.
  static bool is_current();

 private:
  struct State;

  // Shared with the thread, which may have to outlive its owner: the function that it calls can
  // drop the last reference.
  struct SharedState {
    SharedState();
    std::shared_ptr<State> state;
  };

  // A forked child begins anew, without the functions of its parent.
  ProcessInstance<SharedState> states_;
};

}  // namespace pewter::driver
