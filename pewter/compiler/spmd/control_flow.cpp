#include "pewter/compiler/spmd/control_flow.h"

#include <set>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"

namespace pewter::compiler::spmd {

ControlFlow::ControlFlow(llvm::Function& function, const Uniformity& uniformity)
    : uniformity_(uniformity), dominators_(function), loops_(dominators_) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
    reverse_post_order_.push_back(block);
  }
}

llvm::BasicBlock* ControlFlow::node(const llvm::Loop* region, llvm::BasicBlock* block) const {
  const llvm::Loop* loop = loops_.getLoopFor(block);
  if (loop == region) {
    return block;
  }
  while (loop != nullptr && loop->getParentLoop() != region) {
    loop = loop->getParentLoop();
  }
  return loop != nullptr ? loop->getHeader() : nullptr;
}

llvm::Loop* ControlFlow::loop_at(const llvm::Loop* region, llvm::BasicBlock* node) const {
  llvm::Loop* loop = loops_.getLoopFor(node);
  while (loop != nullptr && loop != region && loop->getParentLoop() != region) {
    loop = loop->getParentLoop();
  }
  return loop == region ? nullptr : loop;
}

std::vector<llvm::BasicBlock*> ControlFlow::nodes(const llvm::Loop* region) const {
  std::vector<llvm::BasicBlock*> found;
  for (llvm::BasicBlock* block : reverse_post_order_) {
    if ((region == nullptr || region->contains(block)) && node(region, block) == block) {
      found.push_back(block);
    }
  }
  return found;
}

llvm::BasicBlock* ControlFlow::parent(const llvm::Loop* region, llvm::BasicBlock* node) const {
  const llvm::DomTreeNode* dominator = dominators_.getNode(node)->getIDom();
  return dominator != nullptr ? this->node(region, dominator->getBlock()) : nullptr;
}

llvm::SmallVector<llvm::BasicBlock*, 4> ControlFlow::successors(const llvm::Loop* region,
                                                                llvm::BasicBlock* node) const {
  llvm::SmallVector<llvm::BasicBlock*, 4> found;
  if (const llvm::Loop* loop = loop_at(region, node)) {
    loop->getUniqueExitBlocks(found);
  } else {
    found.append(llvm::succ_begin(node), llvm::succ_end(node));
  }
  return found;
}

bool ControlFlow::leaves_divergent_loop(const llvm::BasicBlock* from,
                                        const llvm::BasicBlock* to) const {
  for (const llvm::Loop* loop = loops_.getLoopFor(from); loop != nullptr && !loop->contains(to);
       loop = loop->getParentLoop()) {
    if (is_divergent(loop)) {
      return true;
    }
  }
  return false;
}

bool ControlFlow::always_reaches(const llvm::Loop* region,
                                 llvm::BasicBlock* from,
                                 llvm::BasicBlock* to) const {
  std::set<llvm::BasicBlock*> seen;
  std::vector<llvm::BasicBlock*> waiting{from};
  while (!waiting.empty()) {
    llvm::BasicBlock* current = waiting.back();
    waiting.pop_back();
    if (current == to || !seen.insert(current).second) {
      continue;
    }
    const auto next = successors(region, current);
    if (next.empty()) {
      return false;
    }
    for (llvm::BasicBlock* block : next) {
      if (region != nullptr && (!region->contains(block) || block == region->getHeader())) {
        return false;
      }
      waiting.push_back(node(region, block));
    }
  }
  return true;
}

}  // namespace pewter::compiler::spmd
