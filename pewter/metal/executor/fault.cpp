#include "pewter/metal/executor/fault.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>

#include "pewter/metal/executor/fiber_group.h"
#include "pewter/metal/executor/guarded_call.h"
#include "pewter/metal/executor/guarded_memory.h"
#include "pewter/metal/executor/kernel_thread.h"

namespace pewter::executor {

constinit thread_local KernelThread kernel_thread __attribute__((tls_model("initial-exec")));

namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// Ignored by default and used by hardly anybody, so that a late one does no harm.
constexpr int kStopSignal = SIGURG;

// Handlers that were in place before ours, by signal: the latest, and the one before ours was ever
// there. Written under a lock by install_fault_handlers(); a handler that reads while they change
// gets one or the other, as with sigaction itself.
struct sigaction previous_actions[NSIG];
struct sigaction original_actions[NSIG];
bool has_original[NSIG];

// Frame of the handler that is passing a signal on; null, or the frame of one that was left by a
// jump, at other times.
constinit thread_local const char* passing_frame __attribute__((tls_model("initial-exec"))) =
    nullptr;
constexpr std::ptrdiff_t kMaxPassingDepth = 1 << 16;

FaultKind kind_of(int signal, const Execution& execution, std::uintptr_t address) {
  switch (signal) {
    case SIGFPE:
      return FaultKind::Arithmetic;
    case SIGILL:
      return FaultKind::IllegalInstruction;
    default:
      break;
  }
  const bool below_stack = execution.fibers != nullptr ? execution.fibers->is_guard(address)
                                                       : execution.stack->is_guard(address);
  return below_stack ? FaultKind::StackOverflow : FaultKind::PageFault;
}

void end_kernel(Execution& execution, FaultKind kind, std::uintptr_t address, void* context) {
  execution.kind = kind;
  execution.address = address;
  execution.in_kernel.store(false, std::memory_order_relaxed);
  escape(*static_cast<ucontext_t*>(context), execution.resume_point);
}

void take_default_action(int signal, const siginfo_t& info) {
  if (signal == kStopSignal) {
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

/// Whether a handler that we passed the signal to has given it back: it was installed after ours
/// and took ours for the one before it.
bool is_given_back(const char* frame) {
  return passing_frame != nullptr && frame < passing_frame &&
         passing_frame - frame < kMaxPassingDepth;
}

void call_previous(int signal, siginfo_t* info, void* context) {
  const auto* frame = static_cast<const char*>(__builtin_frame_address(0));
  const struct sigaction& previous =
      is_given_back(frame) ? original_actions[signal] : previous_actions[signal];
  const char* outer_frame = passing_frame;
  passing_frame = frame;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    take_default_action(signal, *info);
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
  passing_frame = outer_frame;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Execution* execution = kernel_thread.execution;
  // A code above zero means that an instruction did it, not kill().
  if (execution != nullptr && execution->in_kernel.load(std::memory_order_relaxed) &&
      info->si_code > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    end_kernel(*execution, kind_of(signal, *execution, address), address, context);
    return;
  }
  call_previous(signal, info, context);
}

void on_stop(int signal, siginfo_t* info, void* context) {
  const bool is_ours = info->si_code == SI_TKILL && info->si_pid == getpid();
  Execution* execution = kernel_thread.execution;
  if (execution != nullptr && execution->in_kernel.load(std::memory_order_relaxed)) {
    const std::uint64_t deadline = execution->deadline_ns.load(std::memory_order_relaxed);
    const bool switching = execution->fibers != nullptr && execution->fibers->is_switching();
    // A signal that comes at a bad moment is dropped: the watchdog sends another.
    if (deadline != 0 && now_ns() >= deadline && !switching) {
      end_kernel(*execution, FaultKind::Timeout, 0, context);
      return;
    }
  }
  if (!is_ours) {
    call_previous(signal, info, context);
  }
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction current = {};
  sigaction(signal, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == handler) {
    return;
  }
  if (!has_original[signal]) {
    original_actions[signal] = current;
    has_original[signal] = true;
  }
  previous_actions[signal] = current;
  struct sigaction action = {};
  action.sa_sigaction = handler;
  // No deferral: escape() leaves the handler's context for good, so nothing would unblock the
  // signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

int stop_signal() {
  return kStopSignal;
}

std::uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::uint64_t(time.tv_sec) * 1'000'000'000 + std::uint64_t(time.tv_nsec);
}

void install_fault_handlers() {
  static auto* mutex = new std::mutex;
  std::scoped_lock lock(*mutex);
  for (const int signal : kFaultSignals) {
    install(signal, &on_fault);
  }
  install(kStopSignal, &on_stop);
}

void ensure_fault_handlers() {
  struct sigaction current = {};
  sigaction(SIGSEGV, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) == 0 || current.sa_sigaction != &on_fault) {
    install_fault_handlers();
  }
}

void unblock_fault_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kFaultSignals) {
    sigaddset(&signals, signal);
  }
  sigaddset(&signals, kStopSignal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace pewter::executor
