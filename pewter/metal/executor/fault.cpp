#include "pewter/metal/executor/fault.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <mutex>

#include "pewter/base/signal_chain.h"
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

constinit SignalChain chain;

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

void on_fault(int signal, siginfo_t* info, void* context) {
  Execution* execution = kernel_thread.execution;
  // A code above zero means that an instruction did it, not kill().
  if (execution != nullptr && execution->in_kernel.load(std::memory_order_relaxed) &&
      info->si_code > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    end_kernel(*execution, kind_of(signal, *execution, address), address, context);
    return;
  }
  chain.pass_on(signal, info, context);
}

std::uint64_t read_clock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return std::uint64_t(time.tv_sec) * 1'000'000'000 + std::uint64_t(time.tv_nsec);
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
    chain.pass_on(signal, info, context);
  }
}

}  // namespace

int stop_signal() {
  return kStopSignal;
}

std::uint64_t now_ns() {
  return read_clock(CLOCK_MONOTONIC);
}

std::uint64_t coarse_now_ns() {
#ifdef CLOCK_MONOTONIC_COARSE
  return read_clock(CLOCK_MONOTONIC_COARSE);
#else
  return now_ns();
#endif
}

void install_fault_handlers() {
  static auto* mutex = new std::mutex;
  std::scoped_lock lock(*mutex);
  for (const int signal : kFaultSignals) {
    chain.install(signal, &on_fault);
  }
  chain.install(kStopSignal, &on_stop);
}

void ensure_fault_handlers() {
  if (!SignalChain::is_installed(SIGSEGV, &on_fault)) {
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
