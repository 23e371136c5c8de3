#include "pewter/compiler/spmd/width.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/MC/MCSubtargetInfo.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/fused_products.h"
#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {
namespace {

constexpr unsigned kMinChunks = 2;
// Functions beyond this size are slow to compile for many lanes, and have enough work for few.
constexpr unsigned kLargeInstructions = 1000;
constexpr unsigned kMaxLanes = 64;
// Kernels with barriers run whole groups at once up to these sizes.
constexpr unsigned kMaxWholeGroup = 256;
constexpr unsigned kMaxWholeGroupInstructions = 700;
constexpr unsigned kMaxMatrixGroup = 128;
constexpr unsigned kMaxMatrixInstructions = 2'000;

/// Values of single lanes that an innermost loop keeps in registers. Integers mostly become
/// addresses and do not count.
unsigned kept_values(const llvm::Loop& loop, const Uniformity& uniformity) {
  std::set<const llvm::Value*> kept;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (llvm::isa<llvm::PHINode>(instruction) && block == loop.getHeader()) {
        // What it is before the loop is not kept beside it.
        if (instruction.getType()->isFPOrFPVectorTy() && !uniformity.is_uniform(&instruction)) {
          kept.insert(&instruction);
        }
        continue;
      }
      for (const llvm::Value* operand : instruction.operands()) {
        const auto* outside = llvm::dyn_cast<llvm::Instruction>(operand);
        if (outside != nullptr && !loop.contains(outside) &&
            outside->getType()->isFPOrFPVectorTy() && !uniformity.is_uniform(outside)) {
          kept.insert(outside);
        }
      }
    }
  }
  unsigned count = 0;
  for (const llvm::Value* value : kept) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    count += vector != nullptr ? vector->getNumElements() : 1;
  }
  return count;
}

unsigned operation_count(const llvm::Instruction& instruction) {
  constexpr unsigned kProductAndSum = 2;
  if (is_fused_product(&instruction)) {
    return kProductAndSum;
  }
  return instruction.getType()->isFPOrFPVectorTy() && instruction.isBinaryOp() ? 1 : 0;
}

/// Whether each iteration of a loop waits for memory of its own, beside which an access to the
/// stack costs nothing. One that also waits for other threads does so to compute with what they
/// brought, if it computes much.
bool streams(const llvm::Loop& loop, const Uniformity& uniformity) {
  constexpr unsigned kMuch = 4;
  unsigned accesses = 0;
  unsigned operations = 0;
  bool has_barrier = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer != nullptr && !uniformity.is_uniform(pointer) &&
          !is_threadgroup_memory(pointer)) {
        ++accesses;
      }
      operations += operation_count(instruction);
      has_barrier |= device_call(instruction).kind == DeviceCall::Kind::GroupBarrier;
    }
  }
  return accesses > 0 && !(has_barrier && operations > kMuch * accesses);
}

/// Of the innermost loop that has most; nothing when there is no loop.
std::optional<unsigned> most_kept_values(llvm::Function& thread, bool with_streams) {
  const Uniformity uniformity(thread, abi::kSimdWidth);
  const llvm::DominatorTree dominators(thread);
  const llvm::LoopInfo loops(dominators);
  std::optional<unsigned> most;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && (with_streams || !streams(*loop, uniformity))) {
      most = std::max(most.value_or(0), kept_values(*loop, uniformity));
    }
  }
  return most;
}

Width at_most(unsigned limit, const WidthHints& hints, Width width) {
  if (width.lanes <= limit) {
    return width;
  }
  return {limit, limit == kMaxLanes
                     ? fmt::format("the most, where registers would do for {}", width.lanes)
                     : fmt::format("enough for a group of {}", hints.group_threads)};
}

}  // namespace

bool has_avx512(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().getArch() == llvm::Triple::x86_64 &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx512vl,+avx512dq");
}

unsigned lanes_per_chunk(const llvm::TargetMachine& machine, llvm::Function& thread) {
  constexpr unsigned kLanes = 8;
  constexpr unsigned kWideLanes = 16;
  return has_avx512(machine) && !multiplies_matrices(thread) ? kWideLanes : kLanes;
}

bool can_run_whole_groups(llvm::Function& thread, const WidthHints& hints) {
  if (hints.waits_for_group) {
    return false;
  }
  if (hints.uses_barriers && multiplies_matrices(thread)) {
    // Their sums are in memory in any case.
    return hints.group_threads <= kMaxMatrixGroup &&
           thread.getInstructionCount() <= kMaxMatrixInstructions;
  }
  if (!hints.uses_barriers || thread.getInstructionCount() > kMaxWholeGroupInstructions) {
    return false;
  }
  const unsigned kept = most_kept_values(thread, false).value_or(0);
  // A group is a simdgroup at least.
  const unsigned threads = std::max(hints.group_threads, abi::kSimdWidth);
  return kept == 0 || (kept + 1) * threads / hints.per_chunk <= hints.registers;
}

Width choose_width(llvm::Function& thread, const WidthHints& hints) {
  if (hints.group_threads != 0 && hints.group_threads <= kMaxWholeGroup &&
      can_run_whole_groups(thread, hints)) {
    return {std::max(abi::kSimdWidth, std::bit_ceil(hints.group_threads)),
            fmt::format("a whole group of {}, which waits for nobody at barriers",
                        hints.group_threads)};
  }
  if (hints.uses_simdgroup) {
    return {abi::kSimdWidth, "a simdgroup, whose threads use each other's values"};
  }
  if (const unsigned size = thread.getInstructionCount(); size > kLargeInstructions) {
    return {kMinChunks * hints.per_chunk,
            fmt::format("two vectors of {}, for {} instructions are too many for more",
                        hints.per_chunk, size)};
  }
  // More lanes than a group has would only cost code.
  const unsigned most_lanes =
      hints.group_threads == 0
          ? kMaxLanes
          : std::clamp(std::bit_ceil(hints.group_threads), kMinChunks * hints.per_chunk, kMaxLanes);
  const auto most = most_kept_values(thread, true);
  if (!most) {
    return at_most(most_lanes, hints, {abi::kSimdWidth, "a simdgroup, as there is no loop"});
  }
  const unsigned chunks = std::max(std::bit_floor(hints.registers / (*most + 1)), kMinChunks);
  return at_most(most_lanes, hints,
                 {chunks * hints.per_chunk,
                  fmt::format("{} vectors of {}, for an inner loop keeps {} values of each thread "
                              "in {} registers",
                              chunks, hints.per_chunk, *most, hints.registers)});
}

}  // namespace pewter::compiler::spmd
