#include "pewter/compiler/spmd/private_filling.h"

#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {
namespace {

/// What a loop does in an iteration.
struct Work {
  const llvm::Instruction* access = nullptr;
  /// Of private memory, at places that are each thread's own.
  unsigned own_accesses = 0;
  /// What is not there for the accesses' addresses or for the loop itself.
  unsigned others = 0;
};

/// Whether an instruction only counts a loop's iterations or asks whether it ends.
bool drives_loop(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  if (instruction.isTerminator()) {
    return true;
  }
  const auto* latch = llvm::dyn_cast<llvm::BranchInst>(loop.getLoopLatch()->getTerminator());
  return latch != nullptr && latch->isConditional() &&
         (latch->getCondition() == &instruction ||
          llvm::any_of(loop.getHeader()->phis(), [&](const llvm::PHINode& phi) {
            return phi.getType()->isIntegerTy() &&
                   phi.getIncomingValueForBlock(loop.getLoopLatch()) == &instruction &&
                   llvm::is_contained(instruction.operands(), &phi);
          }));
}

/// Of a loop without branches, which goes on as often as is known before, and long enough for its
/// end, which a single thread guesses wrong, to make no difference; nothing for any other.
Work work_of(const llvm::Loop& loop,
             const Uniformity& uniformity,
             llvm::ScalarEvolution& evolution) {
  constexpr unsigned kLong = 32;
  Work work;
  if (loop.getNumBlocks() != 1 ||
      llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop))) {
    return {};
  }
  if (const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);
      most != 0 && most < kLong) {
    return {};
  }
  for (const llvm::Instruction& instruction : *loop.getHeader()) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer != nullptr && is_private_memory(pointer)) {
      if (!uniformity.is_uniform(pointer)) {
        ++work.own_accesses;
        work.access = &instruction;
      }
    } else if (instruction.mayReadOrWriteMemory()) {
      return {};
    } else if (!llvm::isa<llvm::PHINode, llvm::GetElementPtrInst, llvm::CastInst>(instruction) &&
               !drives_loop(instruction, loop)) {
      ++work.others;
    }
  }
  return work;
}

/// How often a block is run, by what is known of the loops around it.
double repetitions(const llvm::Loop* loop, llvm::ScalarEvolution& evolution) {
  constexpr unsigned kUsual = 16;
  double count = 1;
  for (; loop != nullptr; loop = loop->getParentLoop()) {
    const unsigned most = evolution.getSmallConstantMaxTripCount(loop);
    count *= most != 0 ? most : kUsual;
  }
  return count;
}

}  // namespace

const llvm::Instruction* find_private_filling(llvm::Function& thread,
                                              const llvm::LoopInfo& loops,
                                              llvm::ScalarEvolution& evolution,
                                              Lanes lanes) {
  // So many other instructions beside two accesses that lanes, together, save as much as they lose.
  const unsigned worthwhile = lanes.has_wide_vectors ? 1 : 5;
  const Uniformity uniformity(thread, lanes.width);
  const llvm::Instruction* found = nullptr;
  double filling = 0;
  double all = 0;
  for (const llvm::BasicBlock& block : thread) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    const double cost = static_cast<double>(block.size()) * repetitions(loop, evolution);
    all += cost;
    if (loop == nullptr || loop->getHeader() != &block) {
      continue;
    }
    const Work work = work_of(*loop, uniformity, evolution);
    if (work.own_accesses > 0 && 2 * work.others < worthwhile * work.own_accesses) {
      filling += cost;
      found = work.access;
    }
  }
  return 2 * filling > all ? found : nullptr;
}

}  // namespace pewter::compiler::spmd
