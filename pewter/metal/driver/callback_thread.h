#pragma once

#include <functional>
#include <memory>

namespace pewter::driver {

/// Calls functions of the program one after another, on a thread that is started with the first.
///
/// They run here and not where the event occurred, because they may block, and nothing else must
/// wait for them. Safe to use from any thread.
class CallbackThread {
 public:
  CallbackThread();
  /// Functions that are waiting are still called.
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  void call(std::function<void()> function);

  /// Whether the calling thread is inside such a function.
  static bool is_current();

 private:
  struct State;

  // Shared with the thread, which may have to outlive its owner: the function that it calls can
  // drop the last reference.
  const std::shared_ptr<State> state_;
};

}  // namespace pewter::driver
