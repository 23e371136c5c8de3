#pragma once

#include <atomic>
#include <cstdint>

#include "pewter/metal/executor/executor.h"

namespace pewter::executor {

class FiberGroup;
class GuardedMemory;

/// What the signal handlers know of a thread that runs kernels, and where they leave what happened.
struct Execution {
  /// Where pewter_guarded_call() can be left to.
  void* resume_point = nullptr;
  /// Whether kernel code, or a built-in on its behalf, is running: only then does a signal mean a
  /// fault of the kernel.
  std::atomic<bool> in_kernel = false;
  /// When the grid must have ended, in now_ns(); 0 for no limit or no grid.
  std::atomic<std::uint64_t> deadline_ns = 0;
  const GuardedMemory* stack = nullptr;
  /// Null while the kernel runs without fibers.
  const FiberGroup* fibers = nullptr;

  FaultKind kind = FaultKind::None;
  std::uintptr_t address = 0;
};

/// The signal that the watchdog sends to a thread whose deadline has passed.
int stop_signal();

/// Monotonic nanoseconds. Safe in a signal handler.
std::uint64_t now_ns();

/// The same at a fraction of the cost, and up to kCoarseLagNs behind.
std::uint64_t coarse_now_ns();
inline constexpr std::uint64_t kCoarseLagNs = 16'000'000;

/// Puts the handlers for faults in kernels in place, before any others that the program has
/// installed meanwhile.
///
/// A fault outside kernels goes to the handler that was there before, or takes the default action.
void install_fault_handlers();

/// Lets the calling thread receive the signals that end kernels, whatever it has blocked.
void unblock_fault_signals();

}  // namespace pewter::executor
