#include "pewter/base/signal_chain.h"

namespace pewter {
namespace {

/// A handler that is passing a signal on: its chain and its frame. Null at other times, or what a
/// handler left behind that was left by a jump.
struct Passing {
  const SignalChain* chain = nullptr;
  const char* frame = nullptr;
};
constinit thread_local Passing passing __attribute__((tls_model("initial-exec"))) = {};
constexpr std::ptrdiff_t kMaxPassingDepth = 1 << 16;

/// Whether a handler that we passed the signal to has given it back: it was installed after ours
/// and took ours for the one before it.
bool is_given_back(const SignalChain* chain, const char* frame) {
  return passing.chain == chain && frame < passing.frame &&
         passing.frame - frame < kMaxPassingDepth;
}

void take_default_action(int signal, const siginfo_t& info) {
  // Ignored by default.
  if (signal == SIGURG) {
    return;
  }
  // The default action needs the default handler: a true fault happens again on return, a sent
  // signal is resent.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info.si_code <= 0) {
    raise(signal);
  }
}

}  // namespace

bool SignalChain::is_installed(int signal, Handler handler) {
  struct sigaction current = {};
  sigaction(signal, nullptr, &current);
  return (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == handler;
}

void SignalChain::install(int signal, Handler handler) {
  if (is_installed(signal, handler)) {
    return;
  }
  struct sigaction current = {};
  sigaction(signal, nullptr, &current);
  if (!has_original_[signal]) {
    original_[signal] = current;
    has_original_[signal] = true;
  }
  previous_[signal] = current;
  struct sigaction action = {};
  action.sa_sigaction = handler;
  // No deferral: handlers of ours may leave their context for good, and nothing would unblock the
  // signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void SignalChain::pass_on(int signal, siginfo_t* info, void* context) const {
  const auto* frame = static_cast<const char*>(__builtin_frame_address(0));
  const struct sigaction& previous =
      is_given_back(this, frame) ? original_[signal] : previous_[signal];
  const Passing outer = passing;
  passing = {this, frame};
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    take_default_action(signal, *info);
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
  passing = outer;
}

}  // namespace pewter
