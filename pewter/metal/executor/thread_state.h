#pragma once

#include <cstddef>
#include <memory>

#include "pewter/metal/executor/fault.h"
#include "pewter/metal/executor/fiber_group.h"
#include "pewter/metal/executor/guarded_memory.h"
#include "pewter/metal/executor/watchdog.h"

namespace pewter::executor {

/// What an operating-system thread keeps between grids: stacks, threadgroup memory and its way to
/// receive signals.
class ThreadState {
 public:
  /// The calling thread's, made at first use. Destructors of static objects may still use it.
  static ThreadState& current();

  ThreadState();
  ~ThreadState();
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  /// Makes room for a grid. False when memory is out.
  bool prepare(const Dispatch& dispatch);

  /// Gives back what is too large to keep.
  void trim();

  Execution& execution() { return execution_; }
  WatchedThread& watch() { return watch_; }
  /// Null unless prepare() was last called for a kernel that needs fibers.
  FiberGroup* fibers() { return uses_fibers_ ? fibers_.get() : nullptr; }
  void* stack_top() const { return stack_.end(0); }
  /// Memory that ends at a guard, so that an access past its end is noticed.
  std::byte* threadgroup_memory() const { return threadgroup_memory_; }
  /// Null when the kernel's programs keep nothing.
  std::byte* program_memory() const { return program_memory_ ? program_memory_.begin(0) : nullptr; }

 private:
  void ensure_signal_stack();

  Execution execution_;
  WatchedThread watch_{execution_};
  GuardedMemory signal_stack_;
  GuardedMemory stack_;
  GuardedMemory threadgroup_;
  std::byte* threadgroup_memory_ = nullptr;
  GuardedMemory program_memory_;
  std::unique_ptr<FiberGroup> fibers_;
  bool uses_fibers_ = false;
};

}  // namespace pewter::executor
