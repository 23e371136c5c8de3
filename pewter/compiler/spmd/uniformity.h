#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::spmd {

/// Which values and branches of a function are the same in every active lane of a program.
///
/// LLVM's UniformityInfo is not used because it misses joins: of a branch that lanes leave by both
/// ways, with a uniform branch on each way, LLVM 19 may call the phis behind it uniform. Expects
/// reducible control flow.
class Uniformity {
 public:
  Uniformity(llvm::Function& function, unsigned width);

  bool is_uniform(const llvm::Value* value) const {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    return instruction == nullptr || !divergent_.contains(instruction);
  }

  /// Whether lanes may leave the block by different ways.
  bool branches_diverge(const llvm::BasicBlock& block) const {
    return divergent_.contains(block.getTerminator());
  }

  /// Whether lanes that have gone different ways may meet at the block.
  bool is_divergent_join(const llvm::BasicBlock* block) const { return joins_.contains(block); }

  /// Whether lanes may leave the loop at different times or by different exits.
  bool is_divergent_loop(const llvm::BasicBlock* header) const {
    return divergent_loops_.contains(header);
  }

 private:
  class Propagation;

  llvm::DenseSet<const llvm::Instruction*> divergent_;
  llvm::DenseSet<const llvm::BasicBlock*> joins_;
  llvm::DenseSet<const llvm::BasicBlock*> divergent_loops_;  // by their headers
};

}  // namespace pewter::compiler::spmd
