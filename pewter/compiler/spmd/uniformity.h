#pragma once

#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/PassManager.h"

namespace pewter::compiler::spmd {

/// Which values and branches of a function are the same in every active lane of a program.
///
/// LLVM's own analysis, told by a small target description of ours where lanes begin to differ.
class Uniformity {
 public:
  Uniformity(llvm::Function& function, unsigned width);

  bool is_uniform(const llvm::Value* value) const {
    return !llvm::isa<llvm::Instruction>(value) || !info_->isDivergent(value);
  }

  /// Whether lanes may leave the block by different ways.
  bool branches_diverge(const llvm::BasicBlock& block) const {
    return block.getTerminator()->getNumSuccessors() > 1 && info_->hasDivergentTerminator(block);
  }

 private:
  llvm::FunctionAnalysisManager analyses_;
  llvm::UniformityInfo* info_ = nullptr;
};

}  // namespace pewter::compiler::spmd
