#pragma once

#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {

/// A function as nested regions: its body and the bodies of its loops.
///
/// A region consists of nodes: its own blocks, and each loop directly inside as one node, named by
/// its header. A null loop stands for the function's body. Expects reducible control flow, loops in
/// simplified form and no critical edges.
class ControlFlow {
 public:
  ControlFlow(llvm::Function& function, const Uniformity& uniformity);

  const llvm::DominatorTree& dominators() const { return dominators_; }
  const llvm::LoopInfo& loops() const { return loops_; }
  const std::vector<llvm::BasicBlock*>& blocks() const { return reverse_post_order_; }

  /// The node of `region` that holds a block; null when the block is outside.
  llvm::BasicBlock* node(const llvm::Loop* region, llvm::BasicBlock* block) const;

  /// The loop that a node stands for; null when it is a plain block.
  llvm::Loop* loop_at(const llvm::Loop* region, llvm::BasicBlock* node) const;

  /// The nodes of a region, each before those it leads to.
  std::vector<llvm::BasicBlock*> nodes(const llvm::Loop* region) const;

  /// The node through which all ways to `node` lead, null for the first one.
  llvm::BasicBlock* parent(const llvm::Loop* region, llvm::BasicBlock* node) const;

  /// Whether lanes may leave the loop at different times or by different exits.
  bool is_divergent(const llvm::Loop* loop) const {
    return uniformity_.is_divergent_loop(loop->getHeader());
  }

  /// Whether the way from `from` to `to` leaves a loop that lanes leave one by one.
  bool leaves_divergent_loop(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;

  /// Whether every lane that runs node `from` comes to node `to` in the same iteration.
  bool always_reaches(const llvm::Loop* region, llvm::BasicBlock* from, llvm::BasicBlock* to) const;

 private:
  llvm::SmallVector<llvm::BasicBlock*, 4> successors(const llvm::Loop* region,
                                                     llvm::BasicBlock* node) const;

  const Uniformity& uniformity_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<llvm::BasicBlock*> reverse_post_order_;
};

}  // namespace pewter::compiler::spmd
