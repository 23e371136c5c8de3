#include "pewter/compiler/spmd/waiting.h"

#include <algorithm>
#include <optional>

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/shape_analysis.h"

namespace pewter::compiler::spmd {
namespace {

using Kind = DeviceCall::Kind;

/// Past the phis that only carry a value out of a loop.
const llvm::Value* carried(const llvm::Value* value) {
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
  while (phi != nullptr && phi->getNumIncomingValues() == 1) {
    value = phi->getIncomingValue(0);
    phi = llvm::dyn_cast<llvm::PHINode>(value);
  }
  return value;
}

bool is_same_address(const llvm::Value* a, const llvm::Value* b) {
  a = carried(a);
  b = carried(b);
  if (a == b) {
    return true;
  }
  const auto* first = llvm::dyn_cast<llvm::GetElementPtrInst>(a);
  const auto* second = llvm::dyn_cast<llvm::GetElementPtrInst>(b);
  if (first == nullptr || second == nullptr ||
      first->getNumOperands() != second->getNumOperands() ||
      first->getSourceElementType() != second->getSourceElementType()) {
    return false;
  }
  for (unsigned i = 0; i < first->getNumOperands(); ++i) {
    if (carried(first->getOperand(i)) != carried(second->getOperand(i))) {
      return false;
    }
  }
  return true;
}

bool may_be_same_address(const llvm::Value* a, const llvm::Value* b, const llvm::DataLayout& data) {
  if (llvm::getUnderlyingObject(a, 0) != llvm::getUnderlyingObject(b, 0)) {
    return false;
  }
  llvm::APInt first_offset(64, 0);
  llvm::APInt second_offset(64, 0);
  const llvm::Value* first = a->stripAndAccumulateConstantOffsets(data, first_offset, true);
  const llvm::Value* second = b->stripAndAccumulateConstantOffsets(data, second_offset, true);
  if (first == second) {
    return first_offset == second_offset;
  }
  const auto* one = llvm::dyn_cast<llvm::GetElementPtrInst>(carried(a));
  const auto* other = llvm::dyn_cast<llvm::GetElementPtrInst>(carried(b));
  const bool have_indices = one != nullptr && other != nullptr && one->getNumIndices() == 1 &&
                            other->getNumIndices() == 1 &&
                            one->getPointerOperand() == other->getPointerOperand() &&
                            one->getSourceElementType() == other->getSourceElementType();
  return !have_indices ||
         !llvm::isKnownNonEqual(carried(one->getOperand(1)), carried(other->getOperand(1)), data);
}

/// Whether a value in a loop is what was last seen at a place, or the guess with which the loop
/// begins: an exchange that expects it fails again only where another one has come between.
bool is_last_seen(const llvm::Value* value,
                  const llvm::Value* pointer,
                  const llvm::Loop& loop,
                  llvm::SmallPtrSetImpl<const llvm::Value*>& visited) {
  if (!visited.insert(value).second) {
    return true;
  }
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) {
    return is_same_address(load->getPointerOperand(), pointer);
  }
  if (const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(value)) {
    const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(part->getAggregateOperand());
    return exchange != nullptr && is_same_address(exchange->getPointerOperand(), pointer);
  }
  if (llvm::isa<llvm::BitCastInst>(value) || llvm::isa<llvm::FreezeInst>(value)) {
    return is_last_seen(llvm::cast<llvm::User>(value)->getOperand(0), pointer, loop, visited);
  }
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(value)) {
    return is_last_seen(select->getTrueValue(), pointer, loop, visited) &&
           is_last_seen(select->getFalseValue(), pointer, loop, visited);
  }
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
  return phi != nullptr && loop.contains(phi) &&
         llvm::all_of(phi->incoming_values(), [&](const llvm::Use& incoming) {
           return !loop.contains(phi->getIncomingBlock(incoming)) ||
                  is_last_seen(incoming, pointer, loop, visited);
         });
}

/// An operation by which a loop may wait for another thread.
struct Attempt {
  const llvm::Instruction* instruction;
  const llvm::Value* pointer;
  /// What it leaves at the place; null when it only looks.
  const llvm::Value* left = nullptr;
  /// What has to be at the place for it to succeed, when that is known.
  const llvm::Value* awaited = nullptr;
};

/// What may be tried again without end; nothing when the operation changes something each time, or
/// fails only where another one has succeeded.
std::optional<Attempt> attempt(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    llvm::SmallPtrSet<const llvm::Value*, 8> visited;
    const llvm::Value* pointer = exchange->getPointerOperand();
    if (is_last_seen(exchange->getCompareOperand(), pointer, loop, visited)) {
      return std::nullopt;
    }
    return Attempt{exchange, pointer, exchange->getNewValOperand(), exchange->getCompareOperand()};
  }
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    switch (update->getOperation()) {
      case llvm::AtomicRMWInst::Xchg:
        return Attempt{update, update->getPointerOperand(), update->getValOperand()};
      case llvm::AtomicRMWInst::And:
      case llvm::AtomicRMWInst::Or:
        return Attempt{update, update->getPointerOperand()};
      default:
        return std::nullopt;
    }
  }
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load != nullptr && load->isAtomic()
             ? std::optional(Attempt{load, load->getPointerOperand()})
             : std::nullopt;
}

/// Whether lanes leave a loop by what an operation in it has found.
bool decides_exit(const llvm::Instruction& found, const llvm::Loop& loop) {
  llvm::SmallSetVector<const llvm::Instruction*, 16> depending;
  depending.insert(&found);
  for (unsigned i = 0; i < depending.size(); ++i) {
    const llvm::Instruction* instruction = depending[i];
    if (instruction->isTerminator()) {
      if (loop.isLoopExiting(instruction->getParent())) {
        return true;
      }
      // What the two ways bring to where they meet.
      llvm::SmallSetVector<const llvm::BasicBlock*, 16> behind;
      behind.insert(instruction->getParent());
      for (unsigned k = 0; k < behind.size(); ++k) {
        for (const llvm::BasicBlock* next : llvm::successors(behind[k])) {
          if (loop.contains(next) && next != loop.getHeader() && behind.insert(next)) {
            for (const llvm::PHINode& phi : next->phis()) {
              depending.insert(&phi);
            }
          }
        }
      }
    }
    for (const llvm::User* user : instruction->users()) {
      const auto* use = llvm::cast<llvm::Instruction>(user);
      if (loop.contains(use)) {
        depending.insert(use);
      }
    }
  }
  return false;
}

/// Whether a value stays as it is, iteration for iteration, as long as `look` finds the same and
/// nothing is written.
bool changes_only_by(const llvm::Value* value,
                     const llvm::Instruction& look,
                     const llvm::Loop& loop,
                     llvm::SmallPtrSetImpl<const llvm::Value*>& above) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || instruction == &look || !loop.contains(instruction)) {
    return true;
  }
  if (instruction->isAtomic() && instruction->mayWriteToMemory() &&
      !llvm::isa<llvm::LoadInst>(instruction)) {
    return true;
  }
  if (instruction->mayReadOrWriteMemory() || !above.insert(instruction).second) {
    return false;
  }
  const bool is_start = instruction->getParent() == loop.getHeader();
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction);
  for (const llvm::Use& operand : instruction->operands()) {
    const bool is_from_outside =
        phi != nullptr && is_start && !loop.contains(phi->getIncomingBlock(operand));
    if (!is_from_outside && !changes_only_by(operand, look, loop, above)) {
      return false;
    }
  }
  above.erase(instruction);
  return true;
}

/// Whether iterations of a loop may do nothing else than look.
bool only_looks(const llvm::Instruction& look, const llvm::Loop& loop) {
  if (!loop.isLoopInvariant(llvm::getLoadStorePointerOperand(&look))) {
    return false;
  }
  const auto writes = [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& other) {
      return other.mayWriteToMemory() && !llvm::isa<llvm::LoadInst>(other);
    });
  };
  llvm::SmallSetVector<const llvm::BasicBlock*, 8> ways;
  ways.insert(look.getParent());
  bool comes_back = false;
  for (unsigned i = 0; i < ways.size(); ++i) {
    if (writes(ways[i])) {
      continue;
    }
    for (const llvm::BasicBlock* next : llvm::successors(ways[i])) {
      comes_back = comes_back || next == look.getParent();
      if (loop.contains(next)) {
        ways.insert(next);
      }
    }
  }
  if (!comes_back) {
    return false;
  }
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  return llvm::all_of(exiting, [&](const llvm::BasicBlock* block) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    llvm::SmallPtrSet<const llvm::Value*, 8> above;
    return branch != nullptr && changes_only_by(branch->getCondition(), look, loop, above);
  });
}

/// Whether a loop asks, before it tries again, if another thread's attempt is what it has found.
bool asks_for_others(const Attempt& tried) {
  for (const llvm::User* user : tried.instruction->users()) {
    const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(user);
    if (part == nullptr || part->getIndices()[0] != 0) {
      continue;
    }
    for (const llvm::User* use : part->users()) {
      const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(use);
      if (comparison != nullptr && llvm::is_contained(comparison->operands(), tried.left)) {
        return true;
      }
    }
  }
  return false;
}

/// Whether an instruction may end the waiting of others.
bool may_release(const llvm::Instruction& instruction, const Attempt& tried) {
  const llvm::Value* pointer = nullptr;
  const llvm::Value* written = nullptr;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    pointer = store->getPointerOperand();
    written = store->getValueOperand();
  } else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    pointer = update->getPointerOperand();
    written =
        update->getOperation() == llvm::AtomicRMWInst::Xchg ? update->getValOperand() : nullptr;
  } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    pointer = exchange->getPointerOperand();
  } else {
    return false;
  }
  const auto* number = llvm::dyn_cast_or_null<llvm::Constant>(written);
  const auto is_other = [&](const llvm::Value* value) {
    return number != nullptr && value != number && llvm::isa_and_nonnull<llvm::Constant>(value);
  };
  const bool is_useless = is_other(tried.awaited) ||
                          (tried.awaited == nullptr && number != nullptr && number == tried.left);
  if (is_same_address(pointer, tried.pointer)) {
    return !is_useless || asks_for_others(tried);
  }
  // Elsewhere in the object it counts only if it may well be the same place: a look is at one
  // place, and numbers that count or gather something lie beside others.
  return tried.left != nullptr && written != nullptr && instruction.isAtomic() && !is_useless &&
         may_be_same_address(pointer, tried.pointer, instruction.getDataLayout());
}

/// Whether lanes that have left a loop may release what the others wait for, before they would wait
/// for those themselves in any case.
bool is_released_behind(const llvm::Loop& loop, const Attempt& tried) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;
  loop.getExitBlocks(exits);
  llvm::SmallSetVector<const llvm::BasicBlock*, 16> behind(exits.begin(), exits.end());
  for (unsigned i = 0; i < behind.size(); ++i) {
    bool meets_others = false;
    for (const llvm::Instruction& instruction : *behind[i]) {
      const DeviceCall call = device_call(instruction);
      meets_others = call.kind == Kind::GroupBarrier || call.is_cross_lane();
      if (meets_others) {
        break;
      }
      if (may_release(instruction, tried)) {
        return true;
      }
    }
    if (!meets_others) {
      for (const llvm::BasicBlock* next : llvm::successors(behind[i])) {
        if (!loop.contains(next)) {
          behind.insert(next);
        }
      }
    }
  }
  return false;
}

/// What is needed to tell how many lanes run a block.
struct Places {
  Places(llvm::Function& thread, unsigned program_width)
      : width(program_width),
        uniformity(thread, width),
        control_flow(thread, uniformity),
        shapes(thread, uniformity, control_flow, width) {}

  const unsigned width;
  const Uniformity uniformity;
  const ControlFlow control_flow;
  const ShapeAnalysis shapes;
};

/// Whether a condition holds in one lane of a program at most.
bool is_of_one_lane(const llvm::Value* condition, const Places& places) {
  using llvm::PatternMatch::m_LogicalAnd;
  using llvm::PatternMatch::m_Value;
  const llvm::Value* first = nullptr;
  const llvm::Value* second = nullptr;
  if (llvm::PatternMatch::match(condition, m_LogicalAnd(m_Value(first), m_Value(second)))) {
    return is_of_one_lane(first, places) || is_of_one_lane(second, places);
  }
  if (device_call(*condition).kind == Kind::IsFirst) {
    return places.width <= abi::kSimdWidth;
  }
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (comparison == nullptr || comparison->getPredicate() != llvm::CmpInst::ICMP_EQ ||
      !places.shapes.is_uniform(comparison->getOperand(1))) {
    return false;
  }
  const Shape& shape = places.shapes.of(comparison->getOperand(0));
  if (shape.kind != Shape::Kind::Affine || shape.terms.size() != 1 ||
      shape.terms[0].factor != nullptr || shape.accuracy != Shape::Accuracy::Exact) {
    return false;
  }
  std::vector<std::int64_t> lanes = shape.terms[0].lanes;
  std::sort(lanes.begin(), lanes.end());
  return std::adjacent_find(lanes.begin(), lanes.end()) == lanes.end();
}

bool runs_in_one_lane(const llvm::BasicBlock* block, const Places& places) {
  const llvm::DominatorTree& dominators = places.control_flow.dominators();
  for (const auto* node = dominators.getNode(block)->getIDom(); node != nullptr;
       node = node->getIDom()) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
    if (branch != nullptr && branch->isConditional() &&
        is_of_one_lane(branch->getCondition(), places) &&
        dominators.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(0)),
                             block)) {
      return true;
    }
  }
  return false;
}

/// What an address comes from.
struct Sources {
  bool is_by_group = false;
  bool is_by_simdgroup = false;
};

/// Which threads an address in device memory has been chosen for.
Sources sources_of(const llvm::Value* pointer, const llvm::Function& thread) {
  Sources result;
  llvm::SmallSetVector<const llvm::Value*, 16> needed;
  needed.insert(pointer);
  bool is_by_thread = false;
  bool divides = false;
  for (unsigned i = 0; i < needed.size(); ++i) {
    const llvm::Value* value = needed[i];
    result.is_by_group |= value == thread.getArg(1) || value == thread.getArg(3);
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) {
      continue;
    }
    if (device_call(*instruction).kind == Kind::ThreadValue) {
      const auto name = llvm::cast<llvm::CallInst>(instruction)->getCalledFunction()->getName();
      result.is_by_simdgroup |= name == "pewter.own_simdgroup";
      is_by_thread |= name != "pewter.own_index_in_simdgroup";
    } else if (instruction->mayReadFromMemory()) {
      // The places of buffers are in the launch; other memory says what only the data know.
      result.is_by_group |=
          llvm::getUnderlyingObject(instruction->getOperand(0), 0) != thread.getArg(0);
    }
    divides |= instruction->getOpcode() == llvm::Instruction::LShr ||
               instruction->getOpcode() == llvm::Instruction::UDiv;
    needed.insert(instruction->op_begin(), instruction->op_end());
  }
  result.is_by_simdgroup |= is_by_thread && divides;
  return result;
}

}  // namespace

const llvm::Instruction* find_lock_released_behind_loop(llvm::Function& thread, unsigned width) {
  const llvm::DominatorTree dominators(thread);
  const llvm::LoopInfo loops(dominators);
  std::optional<Places> places;
  for (const llvm::BasicBlock& block : thread) {
    for (const llvm::Instruction& instruction : block) {
      const llvm::Loop* loop = loops.getLoopFor(&block);
      const auto tried = loop != nullptr ? attempt(instruction, *loop) : std::nullopt;
      for (; tried && loop != nullptr; loop = loop->getParentLoop()) {
        const bool waits = tried->left != nullptr || (llvm::isa<llvm::LoadInst>(instruction)
                                                          ? only_looks(instruction, *loop)
                                                          : loop->isLoopInvariant(tried->pointer));
        if (!waits || !decides_exit(instruction, *loop) || !is_released_behind(*loop, *tried)) {
          continue;
        }
        if (!places) {
          places.emplace(thread, width);
        }
        if (!runs_in_one_lane(loop->getHeader(), *places)) {
          return &instruction;
        }
      }
    }
  }
  return nullptr;
}

bool waits_for_group(llvm::Function& thread) {
  const llvm::DominatorTree dominators(thread);
  const llvm::LoopInfo loops(dominators);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    for (const llvm::BasicBlock* block : loop->blocks()) {
      for (const llvm::Instruction& instruction : *block) {
        const auto* look = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (look == nullptr || !look->isAtomic() || !only_looks(*look, *loop) ||
            !decides_exit(*look, *loop)) {
          continue;
        }
        const llvm::Value* pointer = look->getPointerOperand();
        const Sources sources = sources_of(pointer, thread);
        if (is_threadgroup_memory(pointer) || sources.is_by_simdgroup || !sources.is_by_group) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace pewter::compiler::spmd
