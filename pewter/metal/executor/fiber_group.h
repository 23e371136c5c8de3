#pragma once

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "pewter/base/kernel_abi.h"
#include "pewter/metal/executor/guarded_memory.h"
#include "pewter/metal/executor/sanitizer_fiber.h"
#include "pewter/metal/executor/simd_exchange.h"

namespace pewter::executor {

/// Runs the threads of one threadgroup as fibers of the calling thread, so that they can wait for
/// each other.
///
/// Threads run one after another until each is blocked or has returned. When every live thread of a
/// simdgroup is blocked, those at the lowest site form the active set, their operation is computed
/// once for all of them, and they go on; when all live threads of the group are at a threadgroup
/// barrier, the barrier opens. Sites are numbered by the code generator so that this is lock-step
/// execution with masks. One object serves one operating-system thread, group after group.
class FiberGroup {
 public:
  FiberGroup();
  FiberGroup(const FiberGroup&) = delete;
  FiberGroup& operator=(const FiberGroup&) = delete;

  /// Makes stacks for groups of up to `thread_count` threads. False when memory is out.
  bool prepare(std::uint32_t thread_count, std::uint32_t stack_bytes);

  /// Gives back stacks that are too large to keep.
  void trim();

  /// Runs every thread of a group to its end.
  void run(abi::EntryPoint entry, const abi::Launch& launch, const abi::Group& group);

  /// Drops the group that escape() left half-way.
  void abandon();

  /// Whether an address lies below one of the stacks. Safe in a signal handler.
  bool is_guard(std::uintptr_t address) const;

  /// Whether fibers are just being changed, so that this is no moment to escape. Safe in a signal
  /// handler.
  bool is_switching() const { return switching_.load(std::memory_order_relaxed); }

  // For built-ins, on the fiber of the running thread.

  /// Names the simdgroup operation that the thread comes to next.
  void set_site(std::uint32_t site) { simdgroup().sites[lane()] = site; }

  /// Waits for the other threads of the simdgroup, hands in three values and returns the
  /// operation's result.
  std::uint64_t exchange(SimdOperation operation,
                         std::uint64_t a,
                         std::uint64_t b,
                         std::uint64_t c);

  /// Waits until no thread of the simdgroup is at a lower site.
  void reconverge(std::uint32_t site);

  /// Waits until all live threads of the group are here.
  void wait_at_barrier();

 private:
  static constexpr std::uint32_t kMaxSimdgroups = abi::kMaxThreadsPerThreadgroup / abi::kSimdWidth;
  static constexpr std::uint32_t kNobody = ~std::uint32_t(0);

  struct Thread {
    boost::context::detail::fcontext_t context = nullptr;
    SanitizerFiber sanitizer;
  };

  /// Sets of lanes as bit masks; a live thread that is in none of the three is running.
  struct Simdgroup {
    std::uint32_t live = 0;
    std::uint32_t runnable = 0;
    std::uint32_t waiting = 0;
    std::uint32_t at_barrier = 0;
    std::uint32_t sites[abi::kSimdWidth];
    SimdOperation operations[abi::kSimdWidth];
    SimdExchange exchange;
  };

  [[noreturn]] static void fiber_main(boost::context::detail::transfer_t transfer);

  Simdgroup& simdgroup() { return simdgroups_[running_ / abi::kSimdWidth]; }
  std::uint32_t lane() const { return running_ % abi::kSimdWidth; }
  std::uint32_t thread_count() const { return group_->size[0] * group_->size[1] * group_->size[2]; }

  void wait_at_site(SimdOperation operation);
  void run_others();
  std::uint32_t next_thread();
  void resolve(Simdgroup& simdgroup);
  bool open_barrier();
  void switch_to(std::uint32_t next);
  void start(std::uint32_t thread);
  void arrive(boost::context::detail::transfer_t transfer);

  std::vector<GuardedMemory> stacks_;
  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<Simdgroup[]> simdgroups_;
  Thread main_;

  abi::EntryPoint entry_ = nullptr;
  const abi::Launch* launch_ = nullptr;
  const abi::Group* group_ = nullptr;
  std::uint32_t simdgroup_count_ = 0;
  std::uint32_t current_simdgroup_ = 0;
  std::uint32_t running_ = kNobody;
  std::atomic<bool> switching_ = false;
};

}  // namespace pewter::executor
