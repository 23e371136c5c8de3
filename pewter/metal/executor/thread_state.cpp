#include "pewter/metal/executor/thread_state.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "pewter/metal/executor/kernel_thread.h"

namespace pewter::executor {
namespace {

constexpr std::size_t kMinStackBytes = std::size_t(512) << 10;
constexpr std::size_t kStackReserve = std::size_t(64) << 10;
constexpr std::size_t kMaxKeptStackBytes = std::size_t(8) << 20;
constexpr std::size_t kGuardBytes = std::size_t(64) << 10;
constexpr std::size_t kSignalStackBytes = std::size_t(64) << 10;
constexpr std::size_t kThreadgroupAlignment = 128;

}  // namespace

ThreadState& ThreadState::current() {
  thread_local ThreadState state;
  return state;
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
  const KernelTraits& traits = dispatch.kernel->traits();
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

  uses_fibers_ = traits.needs_fibers;
  if (uses_fibers_) {
    if (fibers_ == nullptr) {
      fibers_ = std::make_unique<FiberGroup>();
    }
    const std::uint32_t(&size)[3] = dispatch.launch.threads_per_threadgroup;
    if (!fibers_->prepare(size[0] * size[1] * size[2], traits.stack_bytes)) {
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
  if (fibers_ != nullptr) {
    fibers_->trim();
  }
}

}  // namespace pewter::executor
