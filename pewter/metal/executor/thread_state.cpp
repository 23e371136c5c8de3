#include "pewter/metal/executor/thread_state.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "pewter/base/thread_owned.h"
#include "pewter/metal/executor/kernel_thread.h"

namespace pewter::executor {
namespace {

constexpr std::size_t kMinStackBytes = std::size_t(512) << 10;
constexpr std::size_t kStackReserve = std::size_t(64) << 10;
constexpr std::size_t kMaxKeptStackBytes = std::size_t(8) << 20;
constexpr std::size_t kGuardBytes = std::size_t(64) << 10;
constexpr std::size_t kSignalStackBytes = std::size_t(64) << 10;
constexpr std::size_t kThreadgroupAlignment = 128;

/// What all kernels of a dispatch need together.
KernelTraits joined_traits(const Dispatch& dispatch) {
  KernelTraits traits = dispatch.kernel->traits();
  for (const LoadedKernel* kernel : {dispatch.edge_kernel, dispatch.rival}) {
    if (kernel != nullptr) {
      traits.needs_fibers = traits.needs_fibers || kernel->traits().needs_fibers;
      traits.stack_bytes = std::max(traits.stack_bytes, kernel->traits().stack_bytes);
    }
  }
  return traits;
}

std::size_t program_memory_bytes(const LoadedKernel* kernel, std::size_t thread_count) {
  if (kernel == nullptr || kernel->traits().program_bytes == 0) {
    return 0;
  }
  const KernelTraits& traits = kernel->traits();
  return (thread_count + traits.program_lanes - 1) / traits.program_lanes * traits.program_bytes;
}

}  // namespace

ThreadState& ThreadState::current() {
  return ThreadOwned<ThreadState>::get();
}

ThreadState::ThreadState() {
  ensure_signal_stack();
  unblock_fault_signals();
  kernel_thread.execution = &execution_;
}

ThreadState::~ThreadState() {
  kernel_thread = {};
  if (signal_stack_) {
    stack_t current = {};
    sigaltstack(nullptr, &current);
    if (current.ss_sp == signal_stack_.begin(0)) {
      current.ss_flags = SS_DISABLE;
      sigaltstack(&current, nullptr);
    }
  }
}

void ThreadState::ensure_signal_stack() {
  stack_t current = {};
  sigaltstack(nullptr, &current);
  if ((current.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  signal_stack_ = GuardedMemory::allocate(1, kSignalStackBytes, kGuardBytes);
  if (signal_stack_) {
    current.ss_sp = signal_stack_.begin(0);
    current.ss_size = signal_stack_.piece_bytes();
    current.ss_flags = 0;
    sigaltstack(&current, nullptr);
  }
}

bool ThreadState::prepare(const Dispatch& dispatch) {
  const KernelTraits traits = joined_traits(dispatch);
  const std::size_t stack_bytes =
      std::max(kMinStackBytes, traits.needs_fibers ? 0 : kStackReserve + traits.stack_bytes);
  if (stack_.piece_bytes() < stack_bytes || !stack_) {
    stack_ = {};
    stack_ = GuardedMemory::allocate(1, stack_bytes, kGuardBytes);
  }
  const std::size_t threadgroup_bytes = (dispatch.threadgroup_bytes + kThreadgroupAlignment - 1) /
                                        kThreadgroupAlignment * kThreadgroupAlignment;
  if (threadgroup_.piece_bytes() < threadgroup_bytes || !threadgroup_) {
    threadgroup_ = {};
    threadgroup_ = GuardedMemory::allocate(
        1, std::max<std::size_t>(threadgroup_bytes, abi::kMaxThreadgroupMemory), kGuardBytes);
  }
  if (!stack_ || !threadgroup_) {
    return false;
  }
  threadgroup_memory_ = threadgroup_.end(0) - threadgroup_bytes;
  const std::uint32_t(&size)[3] = dispatch.launch.threads_per_threadgroup;
  const std::size_t thread_count = std::size_t{size[0]} * size[1] * size[2];
  const std::size_t program_bytes =
      std::max(program_memory_bytes(dispatch.kernel, thread_count),
               program_memory_bytes(dispatch.edge_kernel, thread_count));
  if (program_bytes > program_memory_.piece_bytes()) {
    program_memory_ = {};
    program_memory_ = GuardedMemory::allocate(1, program_bytes, kGuardBytes);
    if (!program_memory_) {
      return false;
    }
  }

  uses_fibers_ = traits.needs_fibers;
  if (uses_fibers_) {
    if (fibers_ == nullptr) {
      fibers_ = std::make_unique<FiberGroup>();
    }
    if (!fibers_->prepare(static_cast<std::uint32_t>(thread_count), traits.stack_bytes)) {
      return false;
    }
  }
  execution_.stack = &stack_;
  execution_.fibers = fibers();
  return true;
}

void ThreadState::trim() {
  if (stack_.piece_bytes() > kMaxKeptStackBytes) {
    stack_ = {};
  }
  if (program_memory_.piece_bytes() > kMaxKeptStackBytes) {
    program_memory_ = {};
  }
  if (fibers_ != nullptr) {
    fibers_->trim();
  }
}

}  // namespace pewter::executor
