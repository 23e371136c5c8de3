#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "pewter/base/kernel_abi.h"
#include "pewter/base/worker_pool.h"
#include "pewter/metal/executor/loaded_kernel.h"
#include "pewter/metal/executor/trial.h"

namespace pewter::executor {

enum class FaultKind : std::uint8_t {
  None,
  PageFault,
  IllegalInstruction,
  Arithmetic,
  StackOverflow,
  Timeout,
  OutOfMemory,
};

/// Why a grid ended early, and where.
struct Fault {
  FaultKind kind = FaultKind::None;
  /// The address that was touched, for a page fault.
  std::uintptr_t address = 0;
  std::uint32_t group[3] = {0, 0, 0};

  explicit operator bool() const { return kind != FaultKind::None; }
};

/// One grid, ready to run: the kernel and what its threads read.
struct Dispatch {
  const LoadedKernel* kernel = nullptr;
  /// For groups at the edge of the grid that are smaller than the others; null means the same.
  const LoadedKernel* edge_kernel = nullptr;
  abi::Launch launch;
  /// Static and dynamic threadgroup memory together.
  std::uint32_t threadgroup_bytes = 0;
  /// Where the time of a group is remembered from grid to grid, in nanoseconds; may be null.
  std::atomic<std::uint32_t>* group_ns = nullptr;
  /// A kernel that computes the same for groups of every size, without fibers; null while there is
  /// none.
  const LoadedKernel* rival = nullptr;
  /// Says when `rival` runs instead; not null when that is not.
  Trial* trial = nullptr;
};

/// Runs a grid on the worker threads, with the calling thread helping, and returns when it has
/// ended.
///
/// A fault ends the grid, not the process: groups that have not started are dropped. An empty grid
/// runs nothing. Safe to call from several threads at once; their grids share the workers.
Fault run(const Dispatch& dispatch);

/// Makes sure that faults of kernels still come here first, in case the program has installed
/// signal handlers since the kernel was loaded. Costs a system call: once for several grids is
/// enough.
void ensure_fault_handlers();

/// Copies bytes as a grid of its own: memory that is not there is a fault, and workers help with
/// large amounts. The two ranges may overlap.
Fault copy(void* to, const void* from, std::uint64_t byte_count);

/// Sets bytes, in the same way.
Fault fill(void* to, std::uint8_t value, std::uint64_t byte_count);

using Task = WorkerPool::Task;

/// Runs `task` on a worker thread. It must not block: what waits for something comes back when that
/// has happened.
void post(Task& task);

/// Threads that run kernels, the caller of `run` included. `PEWTER_THREADS`, or one for each core.
std::uint32_t thread_count();

/// Milliseconds that a grid may take before it is stopped; 0 for no limit. `PEWTER_TIMEOUT_MS`, a
/// minute unless set.
std::uint64_t timeout_ms();

/// Changes the limit for grids that start later.
void set_timeout_ms(std::uint64_t milliseconds);

}  // namespace pewter::executor
