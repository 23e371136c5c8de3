#include "pewter/metal/executor/fiber_group.h"

#include <algorithm>
#include <bit>

#include "pewter/metal/executor/kernel_thread.h"

namespace pewter::executor {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Room for built-ins and for a program's own signal handlers, which run on whatever stack they
// interrupt.
constexpr std::size_t kStackReserve = std::size_t(48) << 10;
constexpr std::size_t kMinStackBytes = std::size_t(64) << 10;
constexpr std::size_t kMaxKeptStackBytes = std::size_t(256) << 10;
constexpr std::size_t kGuardBytes = std::size_t(64) << 10;
// Stacks begin at different cache sets, or the frames of all threads would compete for the same few
// lines.
constexpr std::size_t kStackColourBytes = 128;

void no_operation(SimdExchange&, std::uint32_t) {}

std::uint32_t lane_mask(std::uint32_t lanes) {
  return lanes >= abi::kSimdWidth ? ~std::uint32_t(0) : (std::uint32_t(1) << lanes) - 1;
}

}  // namespace

FiberGroup::FiberGroup()
    : threads_(std::make_unique<Thread[]>(abi::kMaxThreadsPerThreadgroup)),
      simdgroups_(std::make_unique<Simdgroup[]>(kMaxSimdgroups)) {}

bool FiberGroup::prepare(std::uint32_t thread_count, std::uint32_t stack_bytes) {
  const std::size_t wanted_bytes = std::max(kMinStackBytes, kStackReserve + stack_bytes);
  const std::size_t wanted_count = (thread_count + abi::kSimdWidth - 1) / abi::kSimdWidth;
  if (!stacks_.empty() && stacks_.front().piece_bytes() < wanted_bytes) {
    stacks_.clear();
  }
  const std::size_t piece_bytes = stacks_.empty() ? wanted_bytes : stacks_.front().piece_bytes();
  while (stacks_.size() < wanted_count) {
    auto memory = GuardedMemory::allocate(abi::kSimdWidth, piece_bytes, kGuardBytes);
    if (!memory) {
      return false;
    }
    const std::size_t first = stacks_.size() * abi::kSimdWidth;
    for (std::size_t i = 0; i < abi::kSimdWidth; ++i) {
      threads_[first + i].sanitizer.set_stack(memory.begin(i), piece_bytes);
    }
    stacks_.push_back(std::move(memory));
  }
  return true;
}

void FiberGroup::trim() {
  if (!stacks_.empty() && stacks_.front().piece_bytes() > kMaxKeptStackBytes) {
    stacks_.clear();
  }
}

bool FiberGroup::is_guard(std::uintptr_t address) const {
  return std::any_of(stacks_.begin(), stacks_.end(),
                     [&](const GuardedMemory& memory) { return memory.is_guard(address); });
}

void FiberGroup::run(abi::EntryPoint entry, const abi::Launch& launch, const abi::Group& group) {
  entry_ = entry;
  launch_ = &launch;
  group_ = &group;
  const std::uint32_t count = thread_count();
  simdgroup_count_ = (count + abi::kSimdWidth - 1) / abi::kSimdWidth;
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) {
    Simdgroup& simdgroup = simdgroups_[i];
    simdgroup.live = simdgroup.runnable = lane_mask(count - i * abi::kSimdWidth);
    simdgroup.waiting = simdgroup.at_barrier = 0;
    std::fill(std::begin(simdgroup.sites), std::end(simdgroup.sites), 0);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    threads_[i].context = nullptr;
  }
  current_simdgroup_ = 0;
  running_ = kNobody;

  switching_.store(true, std::memory_order_relaxed);
  const std::uint32_t first = next_thread();
  if (first != kNobody) {
    switch_to(first);
  }
  switching_.store(false, std::memory_order_relaxed);
}

void FiberGroup::abandon() {
  if (running_ != kNobody) {
    threads_[running_].sanitizer.finish_to(main_.sanitizer);
    main_.sanitizer.arrive();
    for (std::uint32_t i = 0; i < thread_count(); ++i) {
      threads_[i].sanitizer.forget();
    }
  }
  running_ = kNobody;
  switching_.store(false, std::memory_order_relaxed);
}

std::uint64_t FiberGroup::exchange(SimdOperation operation,
                                   std::uint64_t a,
                                   std::uint64_t b,
                                   std::uint64_t c) {
  // An active lane's slots belong to it alone until the operation is computed, and its result stays
  // until it comes to the next one, so neither needs a second buffer.
  SimdExchange& lanes = simdgroup().exchange;
  const std::uint32_t own = lane();
  lanes.a[own] = a;
  lanes.b[own] = b;
  lanes.c[own] = c;
  wait_at_site(operation);
  return lanes.result[own];
}

void FiberGroup::reconverge(std::uint32_t site) {
  set_site(site);
  wait_at_site(&no_operation);
}

void FiberGroup::wait_at_site(SimdOperation operation) {
  Simdgroup& own = simdgroup();
  own.operations[lane()] = operation;
  own.waiting |= std::uint32_t(1) << lane();
  run_others();
}

void FiberGroup::wait_at_barrier() {
  simdgroup().at_barrier |= std::uint32_t(1) << lane();
  run_others();
}

void FiberGroup::run_others() {
  switching_.store(true, std::memory_order_relaxed);
  // The running thread is blocked but not finished, so somebody can always go on.
  const std::uint32_t next = next_thread();
  if (next != running_) {
    switch_to(next);
  }
  switching_.store(false, std::memory_order_relaxed);
}

std::uint32_t FiberGroup::next_thread() {
  for (;;) {
    if (current_simdgroup_ == simdgroup_count_ && !open_barrier()) {
      return kNobody;
    }
    Simdgroup& simdgroup = simdgroups_[current_simdgroup_];
    if (simdgroup.runnable == 0 && simdgroup.waiting != 0) {
      resolve(simdgroup);
    }
    if (simdgroup.runnable != 0) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(simdgroup.runnable));
      simdgroup.runnable &= simdgroup.runnable - 1;
      return current_simdgroup_ * abi::kSimdWidth + lane;
    }
    ++current_simdgroup_;
  }
}

void FiberGroup::resolve(Simdgroup& simdgroup) {
  std::uint32_t lowest = kNobody;
  SimdOperation operation = nullptr;
  for (std::uint32_t rest = simdgroup.waiting; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (simdgroup.sites[lane] < lowest || operation == nullptr) {
      lowest = simdgroup.sites[lane];
      operation = simdgroup.operations[lane];
    }
  }
  std::uint32_t active = 0;
  for (std::uint32_t rest = simdgroup.waiting; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (simdgroup.sites[lane] == lowest && simdgroup.operations[lane] == operation) {
      active |= std::uint32_t(1) << lane;
    }
  }
  operation(simdgroup.exchange, active);
  simdgroup.waiting &= ~active;
  simdgroup.runnable = active;
}

bool FiberGroup::open_barrier() {
  std::uint32_t any_live = 0;
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) {
    Simdgroup& simdgroup = simdgroups_[i];
    simdgroup.runnable = simdgroup.at_barrier;
    simdgroup.at_barrier = 0;
    any_live |= simdgroup.live;
  }
  current_simdgroup_ = 0;
  return any_live != 0;
}

void FiberGroup::switch_to(std::uint32_t next) {
  Thread& self = running_ == kNobody ? main_ : threads_[running_];
  Thread& other = next == kNobody ? main_ : threads_[next];
  if (next != kNobody && other.context == nullptr) {
    start(next);
  }
  running_ = next;
  self.sanitizer.leave_to(other.sanitizer);
  const transfer_t transfer = jump_fcontext(other.context, &self.context);
  arrive(transfer);
  self.sanitizer.arrive();
}

void FiberGroup::start(std::uint32_t thread) {
  const GuardedMemory& memory = stacks_[thread / abi::kSimdWidth];
  const std::uint32_t piece = thread % abi::kSimdWidth;
  std::byte* top = memory.end(piece) - piece * kStackColourBytes;
  threads_[thread].context =
      make_fcontext(top, static_cast<std::size_t>(top - memory.begin(piece)), &fiber_main);
}

void FiberGroup::arrive(transfer_t transfer) {
  *static_cast<fcontext_t*>(transfer.data) = transfer.fctx;
}

void FiberGroup::fiber_main(transfer_t transfer) {
  FiberGroup& group = *kernel_thread.fibers;
  group.arrive(transfer);
  Thread& self = group.threads_[group.running_];
  if (transfer.data == &group.main_.context) {
    self.sanitizer.arrive_from(group.main_.sanitizer);
  } else {
    self.sanitizer.arrive();
  }
  group.switching_.store(false, std::memory_order_relaxed);

  group.entry_(group.launch_, group.group_, group.running_, 1);

  group.switching_.store(true, std::memory_order_relaxed);
  group.simdgroup().live &= ~(std::uint32_t(1) << group.lane());
  const std::uint32_t next = group.next_thread();
  Thread& other = next == kNobody ? group.main_ : group.threads_[next];
  if (next != kNobody && other.context == nullptr) {
    group.start(next);
  }
  group.running_ = next;
  self.sanitizer.finish_to(other.sanitizer);
  jump_fcontext(other.context, &self.context);
  __builtin_unreachable();
}

}  // namespace pewter::executor
