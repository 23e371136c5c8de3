#include "pewter/compiler/codegen/convergence.h"

#include <set>
#include <vector>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::codegen {
namespace {

constexpr const char* kSite = "pewter.site";
constexpr const char* kReconverge = "pewter.reconverge";

bool is_simdgroup_operation(const llvm::Instruction& instruction) {
  return spmd::device_call(instruction).is_cross_lane();
}

/// Blocks in an order that follows control flow and keeps each loop together, its exits behind it.
class BlockOrder {
 public:
  BlockOrder(llvm::Function& function, const llvm::LoopInfo& loops) : loops_(loops) {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
      reverse_post_order_.push_back(block);
    }
    append(nullptr);
  }

  const std::vector<llvm::BasicBlock*>& blocks() const { return ordered_; }

 private:
  void append(const llvm::Loop* scope) {
    for (llvm::BasicBlock* block : reverse_post_order_) {
      if (placed_.count(block) != 0 || (scope != nullptr && !scope->contains(block))) {
        continue;
      }
      const llvm::Loop* inner = loops_.getLoopFor(block);
      while (inner != nullptr && inner->getParentLoop() != scope && inner != scope) {
        inner = inner->getParentLoop();
      }
      if (inner != nullptr && inner != scope) {
        append(inner);
      } else {
        placed_.insert(block);
        ordered_.push_back(block);
      }
    }
  }

  const llvm::LoopInfo& loops_;
  std::vector<llvm::BasicBlock*> reverse_post_order_;
  std::set<llvm::BasicBlock*> placed_;
  std::vector<llvm::BasicBlock*> ordered_;
};

bool has_simdgroup_operation(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (is_simdgroup_operation(instruction)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Convergence find_convergence(const llvm::Module& module) {
  Convergence found;
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const spmd::DeviceCall call = spmd::device_call(instruction);
      found.barriers = found.barriers || call.kind == spmd::DeviceCall::Kind::GroupBarrier;
      found.simdgroup = found.simdgroup || call.is_cross_lane();
    }
  }
  return found;
}

void number_convergence_sites(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::Module& module = *function.getParent();
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* nothing = llvm::Type::getVoidTy(context);
  llvm::Type* integer = llvm::Type::getInt32Ty(context);
  const llvm::FunctionCallee site = module.getOrInsertFunction(kSite, nothing, integer);
  const llvm::FunctionCallee reconverge = module.getOrInsertFunction(kReconverge, nothing, integer);

  std::uint32_t next = 1;
  const BlockOrder order(function, loops);
  for (llvm::BasicBlock* block : order.blocks()) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      if (is_simdgroup_operation(instruction)) {
        llvm::IRBuilder<> builder(&instruction);
        builder.CreateCall(site, {builder.getInt32(next++)});
      }
    }
    const llvm::Loop* loop = loops.getLoopFor(block);
    if (loop != nullptr && loop->isLoopLatch(block) && has_simdgroup_operation(*loop)) {
      llvm::IRBuilder<> builder(block->getTerminator());
      builder.CreateCall(reconverge, {builder.getInt32(next++)});
    }
  }
}

}  // namespace pewter::compiler::codegen
