#include "pewter/compiler/spmd/private_search.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

/// Whether nothing but private memory is accessed in a loop, and written at places that follow from
/// what threads find on their way.
bool keeps_its_way(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const auto is_found = [&](const llvm::SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    const auto* value =
        unknown != nullptr ? llvm::dyn_cast<llvm::Instruction>(unknown->getValue()) : nullptr;
    return value != nullptr && loop.contains(value);
  };
  bool keeps = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer == nullptr ? instruction.mayReadOrWriteMemory() : !is_private_memory(pointer)) {
        return false;
      }
      keeps = keeps || (llvm::isa<llvm::StoreInst>(instruction) &&
                        llvm::SCEVExprContains(evolution.getSCEV(const_cast<llvm::Value*>(pointer)),
                                               is_found));
    }
  }
  return keeps;
}

/// Whether a value comes from what is in private memory, by operations of the loop.
bool is_found_in_private_memory(const llvm::Value* value, const llvm::Loop& loop) {
  llvm::SmallSetVector<const llvm::Value*, 16> needed;
  needed.insert(value);
  for (unsigned i = 0; i < needed.size(); ++i) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(needed[i]);
    if (instruction == nullptr || !loop.contains(instruction)) {
      continue;
    }
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    if (load != nullptr && is_private_memory(load->getPointerOperand())) {
      return true;
    }
    needed.insert(instruction->op_begin(), instruction->op_end());
  }
  return false;
}

/// A branch by which threads part after what they have found in private memory.
const llvm::Instruction* parting_of_ways(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch != nullptr && branch->isConditional() &&
        is_found_in_private_memory(branch->getCondition(), loop)) {
      return branch;
    }
  }
  return nullptr;
}

/// Whether threads leave a loop at times that nobody knows before.
bool has_unknown_end(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  return llvm::any_of(exiting, [&](const llvm::BasicBlock* block) {
    return llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getExitCount(&loop, block));
  });
}

std::size_t size_of(const llvm::Loop& loop) {
  std::size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    size += block->size();
  }
  return size;
}

}  // namespace

const llvm::Instruction* find_private_search(const llvm::LoopInfo& loops,
                                             llvm::ScalarEvolution& evolution) {
  const llvm::Instruction* found = nullptr;
  std::size_t searching = 0;
  std::size_t other = 0;
  for (const llvm::Loop* loop : loops) {
    const llvm::Instruction* parting = parting_of_ways(*loop);
    if (parting != nullptr && has_unknown_end(*loop, evolution) &&
        keeps_its_way(*loop, evolution)) {
      found = parting;
      searching += size_of(*loop);
    } else {
      other += size_of(*loop);
    }
  }
  return searching > other ? found : nullptr;
}

}  // namespace pewter::compiler::spmd
