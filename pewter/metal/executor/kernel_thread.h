#pragma once

#include <cstddef>

namespace pewter::executor {

class FiberGroup;
struct Execution;

/// What built-ins and signal handlers know about the operating-system thread that they are on.
struct KernelThread {
  /// Null on a thread that has never run a kernel.
  Execution* execution = nullptr;
  /// Null while the thread runs no kernel with fibers.
  FiberGroup* fibers = nullptr;
  /// Threadgroup memory of the group that the thread runs.
  std::byte* threadgroup_memory = nullptr;
};

// Initial-exec, because other models may allocate on first use, which a signal handler must not.
extern constinit thread_local KernelThread kernel_thread __attribute__((tls_model("initial-exec")));

}  // namespace pewter::executor
