#include "pewter/compiler/spmd/control_flow.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"

namespace pewter::compiler::spmd {

ControlFlow::ControlFlow(llvm::Function& function, const Uniformity& uniformity)
    : dominators_(function), loops_(dominators_) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
    reverse_post_order_.push_back(block);
  }
  for (llvm::Loop* loop : loops_) {
    classify(loop, uniformity);
  }
  find_divergent_joins(function, uniformity);
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

bool ControlFlow::diverges_from(const llvm::Loop* loop, llvm::BasicBlock* node) const {
  std::set<llvm::BasicBlock*> reached;
  std::vector<llvm::BasicBlock*> waiting{node};
  while (!waiting.empty()) {
    llvm::BasicBlock* current = waiting.back();
    waiting.pop_back();
    if (!reached.insert(current).second) {
      continue;
    }
    for (llvm::BasicBlock* next : successors(loop, current)) {
      if (loop->contains(next) && next != loop->getHeader()) {
        waiting.push_back(this->node(loop, next));
      }
    }
  }
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop->getExitingBlocks(exiting);
  for (llvm::BasicBlock* block : exiting) {
    llvm::BasicBlock* exit = this->node(loop, block);
    if (reached.count(exit) != 0 && (exit == node || !always_reaches(loop, node, exit))) {
      return true;
    }
  }
  return false;
}

void ControlFlow::classify(llvm::Loop* loop, const Uniformity& uniformity) {
  for (llvm::Loop* inner : *loop) {
    classify(inner, uniformity);
  }
  for (llvm::BasicBlock* node : nodes(loop)) {
    const llvm::Loop* inner = loop_at(loop, node);
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    if (inner != nullptr) {
      inner->getUniqueExitBlocks(exits);
    }
    const bool splits = inner != nullptr ? is_divergent(inner) && exits.size() > 1
                                         : uniformity.branches_diverge(*node);
    if (splits && diverges_from(loop, node)) {
      divergent_loops_.insert(loop);
      return;
    }
  }
}

// From each branch that lanes leave by different ways, whatever can be reached by more than one of
// them before all ways have met again.
void ControlFlow::find_divergent_joins(llvm::Function& function, const Uniformity& uniformity) {
  const llvm::PostDominatorTree post_dominators(function);
  for (llvm::BasicBlock* branch : reverse_post_order_) {
    if (!uniformity.branches_diverge(*branch)) {
      continue;
    }
    const llvm::DomTreeNode* tree_node = post_dominators.getNode(branch);
    const llvm::BasicBlock* meeting = tree_node != nullptr && tree_node->getIDom() != nullptr
                                          ? tree_node->getIDom()->getBlock()
                                          : nullptr;
    std::map<llvm::BasicBlock*, int> ways;
    for (llvm::BasicBlock* first : llvm::successors(branch)) {
      std::set<llvm::BasicBlock*> seen;
      std::vector<llvm::BasicBlock*> waiting{first};
      while (!waiting.empty()) {
        llvm::BasicBlock* current = waiting.back();
        waiting.pop_back();
        if (!seen.insert(current).second) {
          continue;
        }
        const llvm::Loop* loop = loops_.getLoopFor(current);
        const bool is_header = loop != nullptr && loop->getHeader() == current;
        // Lanes of a loop are always in the same iteration.
        if (is_header && loop->contains(branch)) {
          continue;
        }
        if (!is_header) {
          ++ways[current];
        }
        if (current != meeting) {
          waiting.insert(waiting.end(), llvm::succ_begin(current), llvm::succ_end(current));
        }
      }
    }
    for (const auto& [block, count] : ways) {
      if (count > 1 && llvm::pred_size(block) > 1) {
        divergent_joins_.insert(block);
      }
    }
  }
}

}  // namespace pewter::compiler::spmd
