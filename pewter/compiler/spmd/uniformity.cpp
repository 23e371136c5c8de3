#include "pewter/compiler/spmd/uniformity.h"

#include <algorithm>
#include <set>
#include <vector>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

using Kind = DeviceCall::Kind;

/// Whether every lane of a program gets the same result because every lane of a simdgroup does.
bool is_program_wide(const DeviceCall& call, unsigned width) {
  if (call.group < abi::kSimdWidth || width > abi::kSimdWidth) {
    return false;
  }
  switch (call.kind) {
    case Kind::Reduce:
    case Kind::BroadcastFirst:
    case Kind::Ballot:
    case Kind::ActiveMask:
    case Kind::All:
    case Kind::Any:
      return true;
    default:
      return false;
  }
}

/// Whether lanes get different values here, whatever the operands are.
bool is_source(const llvm::Instruction& instruction, unsigned width) {
  if (llvm::isa<llvm::AtomicRMWInst>(instruction) ||
      llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
    return true;
  }
  const DeviceCall call = device_call(instruction);
  return call.kind == Kind::Lane || call.kind == Kind::ThreadValue || call.kind == Kind::Alone ||
         (call.is_cross_lane() && !is_program_wide(call, width));
}

/// Whether lanes get one value here, whatever the operands are.
bool is_always_uniform(const llvm::Instruction& instruction, unsigned width) {
  const DeviceCall call = device_call(instruction);
  switch (call.kind) {
    case Kind::AllLanes:
    case Kind::FewLanes:
    case Kind::Idle:
    case Kind::LanesApart:
    case Kind::Same:
      return true;
    default:
      return is_program_wide(call, width);
  }
}

}  // namespace

class Uniformity::Propagation {
 public:
  Propagation(Uniformity& result, llvm::Function& function, unsigned width)
      : result_(result), width_(width), dominators_(function), loops_(dominators_) {
    order(function);
    for (Block& block : blocks_) {
      const llvm::Loop* own_loop = loops_.getLoopFor(block.block);
      if (own_loop != nullptr && own_loop->getHeader() == block.block) {
        block.headed = own_loop;
      }
      for (const llvm::BasicBlock* from : llvm::predecessors(block.block)) {
        if (const auto found = numbers_.find(from); found != numbers_.end()) {
          block.predecessors.push_back(found->second);
        }
        for (const llvm::Loop* loop = loops_.getLoopFor(from);
             loop != nullptr && !loop->contains(block.block); loop = loop->getParentLoop()) {
          block.exited.push_back(loop);
        }
      }
    }
  }

  void run(llvm::Function& function) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_source(instruction, width_)) {
        mark(instruction);
      }
    }
    while (!waiting_.empty()) {
      const llvm::Instruction* instruction = waiting_.back();
      waiting_.pop_back();
      if (instruction->isTerminator()) {
        part(*instruction->getParent());
        continue;
      }
      for (const llvm::User* user : instruction->users()) {
        mark(*llvm::cast<llvm::Instruction>(user));
      }
    }
  }

 private:
  struct Block {
    llvm::BasicBlock* block;
    const llvm::Loop* headed;  // The loop whose header this is.
    llvm::SmallVector<int, 2> predecessors;
    llvm::SmallVector<const llvm::Loop*, 2> exited;  // Loops that lead here when they end.
  };

  // Each block before those it leads to, and the blocks of a loop before those behind it.
  void order(llvm::Function& function) {
    struct Visit {
      llvm::BasicBlock* block;
      llvm::SmallVector<llvm::BasicBlock*, 4> waiting;
    };
    llvm::SmallPtrSet<const llvm::BasicBlock*, 32> seen;
    std::vector<Visit> visits;
    const auto begin = [&](llvm::BasicBlock* block) {
      if (!seen.insert(block).second) {
        return;
      }
      Visit visit{block, {llvm::succ_begin(block), llvm::succ_end(block)}};
      // The last to wait is the first to be visited, and the first to be left.
      if (const llvm::Loop* loop = loops_.getLoopFor(block);
          loop != nullptr && loop->getHeader() == block) {
        llvm::SmallVector<llvm::BasicBlock*, 4> exits;
        loop->getExitBlocks(exits);
        visit.waiting.append(exits.begin(), exits.end());
      }
      visits.push_back(std::move(visit));
    };
    begin(&function.getEntryBlock());
    while (!visits.empty()) {
      if (visits.back().waiting.empty()) {
        blocks_.push_back({visits.back().block, nullptr, {}, {}});
        visits.pop_back();
      } else {
        begin(visits.back().waiting.pop_back_val());
      }
    }
    std::reverse(blocks_.begin(), blocks_.end());
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      numbers_[blocks_[i].block] = i;
    }
  }

  void mark(const llvm::Instruction& instruction) {
    const bool goes_one_way = instruction.isTerminator() && instruction.getNumSuccessors() < 2;
    if (!goes_one_way && !is_always_uniform(instruction, width_) &&
        result_.divergent_.insert(&instruction).second) {
      waiting_.push_back(&instruction);
    }
  }

  // Lanes leave `branch` by different ways.
  void part(const llvm::BasicBlock& branch) {
    mark_joins(branch);
    for (const llvm::Loop* loop = loops_.getLoopFor(&branch);
         loop != nullptr && leave_apart(branch, *loop); loop = loop->getParentLoop()) {
      if (result_.divergent_loops_.insert(loop->getHeader()).second) {
        mark_values_that_leave(*loop);
      }
    }
  }

  // Whether lanes that leave `branch` by different ways may leave a loop around it before they
  // have met again in the same iteration.
  bool leave_apart(const llvm::BasicBlock& branch, const llvm::Loop& loop) const {
    std::set<int> reached;  // in the order of `order`, so that the first is not reached again
    llvm::BitVector seen(static_cast<unsigned>(blocks_.size()));  // but in irreducible control flow
    bool some_leave = false;
    bool some_go_round = false;
    llvm::SmallVector<const llvm::BasicBlock*, 8> next(llvm::successors(&branch));
    while (true) {
      while (!next.empty()) {
        const llvm::BasicBlock* block = next.pop_back_val();
        const Block& known = blocks_[numbers_.lookup(block)];
        if (!loop.contains(block)) {
          some_leave = true;
        } else if (block == loop.getHeader()) {
          some_go_round = true;
        } else if (known.headed != nullptr && known.headed->contains(&branch)) {
          // Those that go round an inner loop leave it later, by any exit.
          llvm::SmallVector<llvm::BasicBlock*, 4> exits;
          known.headed->getExitBlocks(exits);
          next.append(exits.begin(), exits.end());
        } else if (const int number = numbers_.lookup(block); !seen[number]) {
          seen.set(number);
          reached.insert(number);
        }
      }
      const bool have_met = reached.size() == 1 && !some_leave && !some_go_round;
      if (have_met || reached.empty()) {
        return !have_met && some_leave;
      }
      const int first = *reached.begin();
      reached.erase(reached.begin());
      for (const llvm::BasicBlock* block : llvm::successors(blocks_[first].block)) {
        // A loop that the branch is not in is run through once.
        const llvm::Loop* headed = blocks_[numbers_.lookup(block)].headed;
        if (numbers_.lookup(block) > first || (headed != nullptr && headed->contains(&branch))) {
          next.push_back(block);
        }
      }
    }
  }

  // Finds where ways out of `branch` meet. Each block is labelled by the last place that all lanes
  // in it have come through since the branch: a successor of the branch, or where labels met.
  void mark_joins(const llvm::BasicBlock& branch) {
    constexpr int kNone = -1;
    std::vector<int> labels(blocks_.size(), kNone);
    for (int own = 0; own < static_cast<int>(blocks_.size()); ++own) {
      const Block& block = blocks_[own];
      // Lanes of a loop are in the same iteration, so they do not meet at its header; but those
      // that come back to it may leave later, by any exit.
      const bool heads_own_loop = block.headed != nullptr && block.headed->contains(&branch);
      if (heads_own_loop) {
        continue;
      }
      int label = kNone;
      bool is_join = false;
      const auto come_from = [&](int from, int first) {
        const int other = blocks_[from].block == &branch ? first : labels[from];
        is_join = is_join || (label != kNone && other != kNone && other != label);
        label = is_join ? own : other != kNone ? other : label;
      };
      for (const int from : block.predecessors) {
        come_from(from, own);
      }
      for (const llvm::Loop* loop : block.exited) {
        if (loop->contains(&branch)) {
          const int header = numbers_.lookup(loop->getHeader());
          for (const int from : blocks_[header].predecessors) {
            if (loop->contains(blocks_[from].block)) {
              come_from(from, header);
            }
          }
        }
      }
      labels[own] = label;
      if (is_join) {
        mark_join(*block.block);
      }
    }
  }

  void mark_join(const llvm::BasicBlock& block) {
    if (result_.joins_.insert(&block).second) {
      for (const llvm::PHINode& phi : block.phis()) {
        if (!phi.hasConstantOrUndefValue()) {
          mark(phi);
        }
      }
    }
  }

  void mark_values_that_leave(const llvm::Loop& loop) {
    for (const llvm::BasicBlock* block : loop.blocks()) {
      for (const llvm::Instruction& instruction : *block) {
        for (const llvm::User* user : instruction.users()) {
          const auto* use = llvm::cast<llvm::Instruction>(user);
          if (!loop.contains(use)) {
            mark(*use);
          }
        }
      }
    }
  }

  Uniformity& result_;
  const unsigned width_;
  const llvm::DominatorTree dominators_;
  const llvm::LoopInfo loops_;
  std::vector<Block> blocks_;  // in the order of `order`
  llvm::DenseMap<const llvm::BasicBlock*, int> numbers_;
  std::vector<const llvm::Instruction*> waiting_;
};

Uniformity::Uniformity(llvm::Function& function, unsigned width) {
  Propagation(*this, function, width).run(function);
}

}  // namespace pewter::compiler::spmd
