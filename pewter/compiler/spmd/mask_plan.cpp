#include "pewter/compiler/spmd/mask_plan.h"

#include "llvm/IR/CFG.h"

namespace pewter::compiler::spmd {

MaskPlan::MaskPlan(const ControlFlow& control_flow, const Uniformity& uniformity)
    : control_flow_(control_flow), uniformity_(uniformity) {
  masks_[control_flow.blocks().front()] = {};
  plan(nullptr);
}

void MaskPlan::plan(const llvm::Loop* region) {
  const llvm::BasicBlock* first =
      region != nullptr ? region->getHeader() : control_flow_.blocks().front();
  for (llvm::BasicBlock* node : control_flow_.nodes(region)) {
    if (const llvm::Loop* loop = control_flow_.loop_at(region, node)) {
      BlockMask& mask = masks_[node];
      mask.owns_vector = control_flow_.is_divergent(loop);
      mask.vector = mask.owns_vector ? vector_count_++ : masks_[loop->getLoopPreheader()].vector;
      plan(loop);
    } else if (node != first) {
      masks_[node] = plan_block(region, node);
    }
  }
}

BlockMask MaskPlan::plan_block(const llvm::Loop* region, llvm::BasicBlock* block) {
  BlockMask mask;
  llvm::BasicBlock* parent = control_flow_.parent(region, block);
  if (control_flow_.always_reaches(region, parent, block)) {
    const llvm::Loop* loop = control_flow_.loop_at(region, parent);
    mask.vector = masks_[loop != nullptr ? loop->getLoopPreheader() : parent].vector;
    return mask;
  }
  bool first = true;
  bool same = true;
  for (const llvm::BasicBlock* from : llvm::predecessors(block)) {
    const unsigned vector = masks_[from].vector;
    same = same && !uniformity_.branches_diverge(*from) &&
           !control_flow_.leaves_divergent_loop(from, block) && (first || vector == mask.vector);
    mask.vector = vector;
    first = false;
  }
  mask.owns_guard = same;
  mask.owns_vector = !same;
  if (!same) {
    mask.vector = vector_count_++;
  }
  return mask;
}

}  // namespace pewter::compiler::spmd
