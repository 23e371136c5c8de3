#pragma once

#include <map>

#include "pewter/compiler/spmd/control_flow.h"

namespace pewter::compiler::spmd {

/// Where the set of lanes that run a block is kept.
///
/// Lanes are in a vector mask; in addition a guard, one bit, says whether a block that is reached
/// by uniform branches runs at all. Blocks share what they can: a block that every lane of another
/// comes to has the mask of that one.
struct BlockMask {
  /// Number of the vector mask; 0 is the mask of the whole program.
  unsigned vector = 0;
  /// Whether the block's incoming edges are collected in that vector.
  bool owns_vector = false;
  /// Whether incoming edges set a guard of its own.
  bool owns_guard = false;
};

/// Decides for each block what its mask is.
class MaskPlan {
 public:
  MaskPlan(const ControlFlow& control_flow, const Uniformity& uniformity);

  const BlockMask& of(const llvm::BasicBlock* block) const { return masks_.at(block); }
  /// Numbers of vector masks are below this.
  unsigned vector_count() const { return vector_count_; }

 private:
  void plan(const llvm::Loop* region);
  BlockMask plan_block(const llvm::Loop* region, llvm::BasicBlock* block);

  const ControlFlow& control_flow_;
  const Uniformity& uniformity_;
  std::map<const llvm::BasicBlock*, BlockMask> masks_;
  unsigned vector_count_ = 1;
};

}  // namespace pewter::compiler::spmd
