#pragma once

#include <signal.h>

#include <cstddef>

namespace pewter {

/// Handlers of ours for signals that others may want too: what is not ours goes to the handler that
/// was there before, or takes the default action.
///
/// A chain is a static object; it is never destroyed, for its handlers stay in place.
class SignalChain {
 public:
  using Handler = void (*)(int signal, siginfo_t* info, void* context);

  /// Puts `handler` in place, before any other that the program has installed meanwhile. Calls must
  /// not overlap.
  void install(int signal, Handler handler);

  /// Whether `handler` is the one that the signal goes to.
  static bool is_installed(int signal, Handler handler);

  /// For a handler of ours, when the signal is not for it.
  void pass_on(int signal, siginfo_t* info, void* context) const;

 private:
  // Handlers that were in place before ours, by signal: the latest, and the one before ours was
  // ever there. A handler that reads while they change gets one or the other, as with sigaction
  // itself.
  struct sigaction previous_[NSIG] = {};
  struct sigaction original_[NSIG] = {};
  bool has_original_[NSIG] = {};
};

}  // namespace pewter
