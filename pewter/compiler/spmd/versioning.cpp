#include "pewter/compiler/spmd/versioning.h"

#include <set>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {
namespace {

constexpr std::size_t kMaxCopiedInstructions = 400;
constexpr std::size_t kMaxLoopInstructions = 700;
// Kernels with more loops have them for different threads, mostly, which then seldom go together.
constexpr std::size_t kMaxVersionedLoops = 8;
// Early returns after each other; each doubles what follows the last one at most.
constexpr int kMaxReturns = 2;

llvm::Value* all_lanes(llvm::IRBuilder<>& builder, llvm::Value* condition) {
  return create_marker(builder, kAllCall, builder.getInt1Ty(), {condition});
}

/// Whether nothing happens from a block on but the return.
bool only_returns(const llvm::BasicBlock* block) {
  for (int steps = 0; steps < 4; ++steps) {
    if (llvm::isa<llvm::ReturnInst>(block->front())) {
      return true;
    }
    if (block->size() != 1 || block->getSingleSuccessor() == nullptr) {
      return false;
    }
    block = block->getSingleSuccessor();
  }
  return false;
}

bool may_be_copied(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call == nullptr || !call->cannotDuplicate();
}

/// The blocks that run only after `first`, when they can be copied as a whole.
std::vector<llvm::BasicBlock*> region_after(llvm::BasicBlock* first,
                                            const llvm::DominatorTree& dominators) {
  llvm::SmallVector<llvm::BasicBlock*, 16> blocks;
  dominators.getDescendants(first, blocks);
  const std::set<llvm::BasicBlock*> inside(blocks.begin(), blocks.end());
  std::size_t size = 0;
  for (llvm::BasicBlock* block : blocks) {
    size += block->size();
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      if (inside.count(next) == 0 && (!only_returns(next) || !next->phis().empty())) {
        return {};
      }
    }
    for (const llvm::Instruction& instruction : *block) {
      if (!may_be_copied(instruction)) {
        return {};
      }
    }
  }
  if (size > kMaxCopiedInstructions) {
    return {};
  }
  return {blocks.begin(), blocks.end()};
}

std::vector<llvm::BasicBlock*> copy_blocks(llvm::Function& function,
                                           llvm::ArrayRef<llvm::BasicBlock*> blocks,
                                           llvm::ValueToValueMapTy& map) {
  llvm::SmallVector<llvm::BasicBlock*, 16> copies;
  for (llvm::BasicBlock* block : blocks) {
    llvm::BasicBlock* copy = llvm::CloneBasicBlock(block, map, ".full", &function);
    map[block] = copy;
    copies.push_back(copy);
  }
  llvm::remapInstructionsInBlocks(copies, map);
  return {copies.begin(), copies.end()};
}

bool version_one_return(llvm::Function& function, unsigned width, bool in_copy) {
  const Uniformity uniformity(function, width);
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  for (llvm::BasicBlock& block : function) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch == nullptr || !branch->isConditional() || loops.getLoopFor(&block) != nullptr ||
        !uniformity.branches_diverge(block) || (in_copy && !block.getName().contains(".full"))) {
      continue;
    }
    for (const unsigned side : {0U, 1U}) {
      llvm::BasicBlock* first = branch->getSuccessor(side);
      if (!only_returns(branch->getSuccessor(1 - side)) || only_returns(first) ||
          first->getSinglePredecessor() != &block) {
        continue;
      }
      const std::vector<llvm::BasicBlock*> region = region_after(first, dominators);
      if (region.empty()) {
        continue;
      }
      llvm::ValueToValueMapTy map;
      const auto copies = copy_blocks(function, region, map);
      llvm::BasicBlock* masked = block.splitBasicBlock(branch->getIterator(), "masked");
      for (llvm::BasicBlock* copy : copies) {
        copy->replacePhiUsesWith(masked, &block);
      }
      block.getTerminator()->eraseFromParent();
      llvm::IRBuilder<> builder(&block);
      llvm::Value* stays = branch->getCondition();
      if (side == 1) {
        stays = builder.CreateNot(stays);
      }
      builder.CreateCondBr(all_lanes(builder, stays), llvm::cast<llvm::BasicBlock>(map[first]),
                           masked);
      return true;
    }
  }
  return false;
}

/// A loop that is left at its end only, by a branch that diverges, and small.
bool can_version(const llvm::Loop& loop, const Uniformity& uniformity) {
  llvm::BasicBlock* latch = loop.getLoopLatch();
  if (latch == nullptr || loop.getLoopPreheader() == nullptr || loop.getExitBlock() == nullptr ||
      loop.getExitingBlock() != latch || !uniformity.branches_diverge(*latch)) {
    return false;
  }
  std::size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    size += block->size();
    for (const llvm::Instruction& instruction : *block) {
      // Of lanes that try to exchange what they have seen, one succeeds at once and leaves.
      if (!may_be_copied(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction) ||
          device_call(instruction).kind == DeviceCall::Kind::GroupBarrier) {
        return false;
      }
    }
  }
  return size <= kMaxLoopInstructions;
}

/// Moves what a block computes before a branch; false when something has to stay.
bool hoist(llvm::BasicBlock& block, llvm::Instruction& before) {
  for (const llvm::Instruction& instruction : block) {
    if (!instruction.isTerminator() &&
        (llvm::isa<llvm::PHINode>(instruction) || instruction.mayReadOrWriteMemory() ||
         !llvm::isSafeToSpeculativelyExecute(&instruction))) {
      return false;
    }
  }
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
    if (!instruction.isTerminator()) {
      instruction.moveBefore(&before);
    }
  }
  return true;
}

VersionedLoop version_loop(llvm::Function& function,
                           llvm::Loop& loop,
                           const Uniformity& uniformity) {
  llvm::BasicBlock* header = loop.getHeader();
  llvm::BasicBlock* latch = loop.getLoopLatch();
  llvm::BasicBlock* exit = loop.getExitBlock();
  llvm::BasicBlock* preheader = loop.getLoopPreheader();
  llvm::ValueToValueMapTy map;
  copy_blocks(function, loop.getBlocks(), map);
  auto* full_header = llvm::cast<llvm::BasicBlock>(map[header]);
  auto* full_latch = llvm::cast<llvm::BasicBlock>(map[latch]);
  const auto mapped = [&](llvm::Value* value) -> llvm::Value* {
    const auto found = map.find(value);
    return found != map.end() ? static_cast<llvm::Value*>(found->second) : value;
  };
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* leaving = llvm::BasicBlock::Create(context, "not.full", &function);
  auto* branch = llvm::cast<llvm::BranchInst>(full_latch->getTerminator());
  llvm::Value* condition = branch->getCondition();
  const bool goes_on_if_true = branch->getSuccessor(0) == full_header;
  {
    llvm::IRBuilder<> builder(branch);
    llvm::Value* goes_on = goes_on_if_true ? condition : builder.CreateNot(condition);
    builder.CreateCondBr(all_lanes(builder, goes_on), full_header, leaving);
    branch->eraseFromParent();
  }
  // From here on lanes differ: the masked loop takes over where they go on.
  llvm::IRBuilder<>(leaving).CreateCondBr(condition, goes_on_if_true ? header : exit,
                                          goes_on_if_true ? exit : header);
  for (llvm::BasicBlock* target : {header, exit}) {
    for (llvm::PHINode& phi : target->phis()) {
      phi.addIncoming(mapped(phi.getIncomingValueForBlock(latch)), leaving);
    }
  }
  llvm::BasicBlock* guard = preheader->getSinglePredecessor();
  auto* guarded =
      guard != nullptr ? llvm::dyn_cast<llvm::BranchInst>(guard->getTerminator()) : nullptr;
  if (guarded == nullptr || !guarded->isConditional() || !uniformity.branches_diverge(*guard) ||
      !hoist(*preheader, *guarded)) {
    // The copy is where every lane begins: those that come here go through one iteration.
    preheader->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> builder(preheader);
    llvm::CallInst* few = create_few(builder, 0);
    builder.CreateCondBr(few, header, full_header);
    return {full_header, header, few};
  }
  // Only when all lanes enter the loop; otherwise the masked one from the start.
  llvm::BasicBlock* full_preheader = llvm::BasicBlock::Create(context, "full.enter", &function);
  full_header->replacePhiUsesWith(preheader, full_preheader);
  const bool enters_if_true = guarded->getSuccessor(0) == preheader;
  llvm::BasicBlock* masked = guard->splitBasicBlock(guarded->getIterator(), "masked");
  guard->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(guard);
  llvm::Value* enters = guarded->getCondition();
  if (!enters_if_true) {
    enters = builder.CreateNot(enters);
  }
  builder.CreateCondBr(all_lanes(builder, enters), full_preheader, masked);
  builder.SetInsertPoint(full_preheader);
  llvm::CallInst* few = create_few(builder, 0);
  builder.CreateCondBr(few, masked, full_header);
  return {full_header, header, few};
}

}  // namespace

void version_early_returns(llvm::Function& function, unsigned width) {
  for (int i = 0; i < kMaxReturns && version_one_return(function, width, i > 0); ++i) {
  }
}

std::vector<VersionedLoop> version_loops(llvm::Function& function, unsigned width) {
  const Uniformity uniformity(function, width);
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  std::vector<llvm::Loop*> chosen;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    bool is_inside = false;
    for (const llvm::Loop* outer : chosen) {
      is_inside = is_inside || outer->contains(loop);
    }
    if (!is_inside && can_version(*loop, uniformity)) {
      chosen.push_back(loop);
    }
  }
  if (chosen.size() > kMaxVersionedLoops) {
    chosen.clear();
  }
  std::vector<VersionedLoop> versions;
  for (llvm::Loop* loop : chosen) {
    versions.push_back(version_loop(function, *loop, uniformity));
  }
  return versions;
}

}  // namespace pewter::compiler::spmd
