#include "pewter/compiler/spmd/lone_lanes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include "pewter/compiler/spmd/control_flow.h"
#include "pewter/compiler/spmd/mask_plan.h"
#include "pewter/compiler/spmd/shape_analysis.h"

namespace pewter::compiler::spmd {
namespace {

using Kind = DeviceCall::Kind;

// Beyond these sizes, of one loop and of all together, compiling takes too long for what is won.
constexpr unsigned kMaxLoopInstructions = 400;
constexpr unsigned kMaxInstructions = 2'000;
// Lanes are counted at the first iteration and then once in so many.
constexpr unsigned kIterationsBetween = 4;

/// What is known of the function before it is changed.
struct Facts {
  Facts(llvm::Function& function, Lanes program_lanes)
      : lanes(program_lanes),
        uniformity(function, lanes.width),
        control_flow(function, uniformity),
        shapes(function, uniformity, control_flow, lanes.width),
        masks(control_flow, uniformity) {}

  bool runs_in_every_lane(const llvm::BasicBlock* block) const {
    return masks.of(block).vector == 0;
  }

  const Lanes lanes;
  const Uniformity uniformity;
  const ControlFlow control_flow;
  const ShapeAnalysis shapes;
  const MaskPlan masks;
};

/// A value that leaves a loop: a phi of an exit.
struct Leaving {
  llvm::PHINode* phi;
  bool is_uniform;
};

/// A loop whose lanes may run alone.
struct Candidate {
  llvm::BasicBlock* header;
  /// Whether lanes leave it one by one; otherwise all that enter it stay to its end.
  bool is_divergent;
  /// The most lanes that run alone.
  unsigned few;
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;
  llvm::SmallVector<Leaving, 4> leaving;
  /// Phis of exits that stand for something from before the loop.
  llvm::SmallVector<std::pair<llvm::PHINode*, llvm::Value*>, 4> passing;
  /// What the function for one lane takes after the phis of the header. A null pointer stands for
  /// the number of the lane.
  llvm::SmallVector<llvm::Value*, 8> inputs;
  llvm::Function* alone = nullptr;
};

bool can_be_alone(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst>(instruction)) {
    return false;
  }
  if (!llvm::isa<llvm::CallBase>(instruction)) {
    return true;
  }
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->cannotDuplicate() || call->getCalledFunction() == nullptr) {
    return false;
  }
  const Kind kind = device_call(instruction).kind;
  return kind == Kind::None || kind == Kind::Lane || kind == Kind::AllLanes;
}

/// About what instructions cost, for one thread and for all lanes of a program.
struct Costs {
  unsigned of_one = 0;
  unsigned of_all = 0;
};

void add_costs(const llvm::Instruction& instruction, const Facts& facts, Costs& costs) {
  constexpr unsigned kDivision = 8;
  constexpr unsigned kAtomic = 16;
  if (llvm::isa<llvm::PHINode>(instruction) || instruction.isDebugOrPseudoInst()) {
    return;
  }
  const unsigned chunks = facts.lanes.chunks();
  const unsigned own = instruction.isAtomic() ? kAtomic : instruction.isIntDivRem() ? kDivision : 1;
  costs.of_one += own;
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (instruction.isTerminator()) {
    const bool diverges = facts.uniformity.branches_diverge(*instruction.getParent());
    costs.of_all += diverges ? 2 * chunks : 1;
  } else if (facts.uniformity.is_uniform(&instruction) && !instruction.mayWriteToMemory()) {
    costs.of_all += own;
  } else if (own > 1 || (pointer != nullptr && !facts.shapes.has_scalar(pointer))) {
    costs.of_all += own * facts.lanes.width;
  } else if (facts.shapes.is_affine(&instruction) &&
             !facts.shapes.of(&instruction).needs_vector()) {
    costs.of_all += own;
  } else {
    costs.of_all += own * chunks;
  }
}

/// How many lanes may be left in a loop for them to be faster alone.
unsigned few_lanes(const llvm::Loop& loop, const Facts& facts) {
  Costs costs;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      add_costs(instruction, facts, costs);
    }
  }
  // With their masks, vectors take about twice the steps of one thread. But lanes together wait for
  // memory once, and for no branch that was guessed wrong: when half of them are left they stay.
  const unsigned most = std::max(1U, facts.lanes.width / 2);
  return std::clamp(2 * costs.of_all / std::max(costs.of_one, 1U), 1U, most);
}

bool is_single_value(const llvm::Type* type) {
  return type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
}

bool is_from_outside(const llvm::Value* value, const llvm::Loop& loop) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction == nullptr || !loop.contains(instruction);
}

std::optional<Candidate> candidate(const llvm::Loop& loop, const Facts& facts) {
  Candidate found;
  found.header = loop.getHeader();
  found.is_divergent = facts.control_flow.is_divergent(&loop);
  if (!found.is_divergent && facts.runs_in_every_lane(loop.getLoopPreheader())) {
    return std::nullopt;
  }
  unsigned size = 0;
  llvm::SetVector<llvm::Value*> inputs;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      if (++size > kMaxLoopInstructions || !can_be_alone(instruction)) {
        return std::nullopt;
      }
      if (device_call(instruction).kind == Kind::Lane) {
        inputs.insert(nullptr);
      }
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
      for (llvm::Use& operand : instruction.operands()) {
        // What a phi of the header is when the loop begins is handed over as the phi itself.
        const bool is_used = phi == nullptr || loop.contains(phi->getIncomingBlock(operand));
        const bool is_value =
            llvm::isa<llvm::Argument>(operand) || llvm::isa<llvm::Instruction>(operand);
        if (is_used && is_value && is_from_outside(operand, loop)) {
          inputs.insert(operand);
        }
      }
    }
  }
  loop.getUniqueExitBlocks(found.exits);
  if (found.exits.empty()) {
    return std::nullopt;  // No lane ever leaves it.
  }
  for (llvm::BasicBlock* exit : found.exits) {
    for (llvm::PHINode& phi : exit->phis()) {
      llvm::Value* same = phi.hasConstantValue();
      if (same != nullptr && is_from_outside(same, loop)) {
        found.passing.emplace_back(&phi, same);
        continue;
      }
      for (llvm::Value* value : phi.incoming_values()) {
        if (!llvm::isa<llvm::Constant>(value) && is_from_outside(value, loop)) {
          inputs.insert(value);
        }
      }
      const bool is_uniform = facts.shapes.is_uniform(&phi);
      // One that was known to follow the lanes should stay so.
      if (!is_single_value(phi.getType()) || (!is_uniform && facts.shapes.is_affine(&phi))) {
        return std::nullopt;
      }
      found.leaving.push_back({&phi, is_uniform});
    }
  }
  found.inputs.assign(inputs.begin(), inputs.end());
  const auto is_part = [](const llvm::Value* input) {
    return input != nullptr && !is_single_value(input->getType());
  };
  if (llvm::any_of(found.inputs, is_part)) {
    return std::nullopt;
  }
  found.few = few_lanes(loop, facts);
  return found;
}

llvm::FunctionType* type_of(const Candidate& candidate) {
  llvm::LLVMContext& context = candidate.header->getContext();
  llvm::SmallVector<llvm::Type*, 8> parameters;
  for (const llvm::PHINode& phi : candidate.header->phis()) {
    parameters.push_back(phi.getType());
  }
  for (const llvm::Value* input : candidate.inputs) {
    parameters.push_back(input != nullptr ? input->getType() : llvm::Type::getInt32Ty(context));
  }
  llvm::SmallVector<llvm::Type*, 8> results;
  for (const Leaving& leaving : candidate.leaving) {
    results.push_back(leaving.phi->getType());
  }
  if (candidate.exits.size() > 1) {
    results.push_back(llvm::Type::getInt32Ty(context));
  }
  return llvm::FunctionType::get(llvm::StructType::get(context, results), parameters, false);
}

/// The rest of a loop for one thread, from the values of the header's phis on: gives what
/// leaves the loop and, of several exits, the number of the one it took.
llvm::Function* write_alone(const llvm::Loop& loop, const Candidate& candidate) {
  llvm::Function& source = *candidate.header->getParent();
  llvm::LLVMContext& context = source.getContext();
  auto* alone = llvm::Function::Create(type_of(candidate), llvm::GlobalValue::InternalLinkage,
                                       kAlonePrefix, source.getParent());
  alone->setAttributes(llvm::AttributeList().addFnAttributes(
      context, llvm::AttrBuilder(context, source.getAttributes().getFnAttrs())));
  alone->removeFnAttr(llvm::Attribute::AlwaysInline);
  alone->addFnAttr(llvm::Attribute::NoInline);
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(context, "entry", alone);
  llvm::ValueToValueMapTy map;
  unsigned next = static_cast<unsigned>(
      std::distance(candidate.header->phis().begin(), candidate.header->phis().end()));
  llvm::Value* lane = nullptr;
  for (llvm::Value* input : candidate.inputs) {
    if (input == nullptr) {
      lane = alone->getArg(next++);
    } else {
      map[input] = alone->getArg(next++);
    }
  }
  llvm::SmallVector<llvm::BasicBlock*, 16> copies;
  for (llvm::BasicBlock* block : loop.blocks()) {
    copies.push_back(llvm::CloneBasicBlock(block, map, "", alone));
    map[block] = copies.back();
  }
  // Each way out of the loop returns what it brings to the phis of its exit.
  for (llvm::BasicBlock* block : loop.blocks()) {
    auto* copy = llvm::cast<llvm::BasicBlock>(map[block]);
    llvm::Instruction* branch = copy->getTerminator();
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      llvm::BasicBlock* exit = branch->getSuccessor(i);
      if (loop.contains(exit)) {
        continue;
      }
      llvm::BasicBlock* leave = llvm::BasicBlock::Create(context, "leave", alone);
      branch->setSuccessor(i, leave);
      llvm::IRBuilder<> builder(leave);
      llvm::Value* result = llvm::PoisonValue::get(alone->getReturnType());
      const unsigned count = static_cast<unsigned>(candidate.leaving.size());
      for (unsigned k = 0; k < count; ++k) {
        llvm::PHINode* phi = candidate.leaving[k].phi;
        if (phi->getParent() == exit) {
          result = builder.CreateInsertValue(result, phi->getIncomingValueForBlock(block), k);
        }
      }
      if (candidate.exits.size() > 1) {
        const auto number = std::find(candidate.exits.begin(), candidate.exits.end(), exit) -
                            candidate.exits.begin();
        result = builder.CreateInsertValue(result, builder.getInt32(static_cast<unsigned>(number)),
                                           count);
      }
      builder.CreateRet(result);
      copies.push_back(leave);
    }
  }
  auto* header = llvm::cast<llvm::BasicBlock>(map[candidate.header]);
  unsigned number = 0;
  for (llvm::PHINode& phi : header->phis()) {
    for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
      if (!loop.contains(phi.getIncomingBlock(i))) {
        phi.removeIncomingValue(i, false);
      }
    }
    phi.addIncoming(alone->getArg(number++), entry);
  }
  llvm::BranchInst::Create(header, entry);
  map[entry] = entry;
  llvm::remapInstructionsInBlocks(copies, map);
  for (llvm::BasicBlock* block : copies) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      const Kind kind = device_call(instruction).kind;
      if (kind == Kind::Lane || kind == Kind::AllLanes) {
        // What holds for this lane holds for all of them.
        instruction.replaceAllUsesWith(kind == Kind::Lane ? lane : instruction.getOperand(0));
        instruction.eraseFromParent();
      } else {
        instruction.setDebugLoc({});
      }
    }
  }
  return alone;
}

/// A value that is the same in all active lanes, as one.
llvm::Value* as_uniform(llvm::IRBuilder<>& builder, llvm::Value* value) {
  std::string name = kSamePrefix;
  llvm::raw_string_ostream(name) << *value->getType();
  return create_marker(builder, name, value->getType(), {value});
}

/// A block that calls the function for one lane and goes on behind the loop.
llvm::BasicBlock* write_call(const Candidate& candidate, llvm::ArrayRef<llvm::Value*> phis) {
  llvm::Function& function = *candidate.header->getParent();
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* block = llvm::BasicBlock::Create(context, "alone", &function);
  llvm::IRBuilder<> builder(block);
  llvm::SmallVector<llvm::Value*, 8> arguments(phis);
  for (llvm::Value* input : candidate.inputs) {
    arguments.push_back(input != nullptr
                            ? input
                            : builder.CreateCall(function.getParent()->getOrInsertFunction(
                                  kLaneCall, builder.getInt32Ty())));
  }
  llvm::Value* result = builder.CreateCall(candidate.alone, arguments);
  llvm::SmallVector<llvm::Value*, 4> values;
  for (unsigned i = 0; i < candidate.leaving.size(); ++i) {
    llvm::Value* value = builder.CreateExtractValue(result, i);
    values.push_back(candidate.leaving[i].is_uniform ? as_uniform(builder, value) : value);
  }
  llvm::Value* number = nullptr;
  if (candidate.exits.size() > 1) {
    number = builder.CreateExtractValue(result, static_cast<unsigned>(candidate.leaving.size()));
  }
  for (unsigned i = 0; i < candidate.exits.size(); ++i) {
    llvm::BasicBlock* from = builder.GetInsertBlock();
    llvm::BasicBlock* exit = candidate.exits[i];
    if (i + 1 < candidate.exits.size()) {
      llvm::BasicBlock* others = llvm::BasicBlock::Create(context, "alone.others", &function);
      builder.CreateCondBr(builder.CreateICmpEQ(number, builder.getInt32(i)), exit, others);
      builder.SetInsertPoint(others);
    } else {
      builder.CreateBr(exit);
    }
    for (unsigned k = 0; k < candidate.leaving.size(); ++k) {
      if (candidate.leaving[k].phi->getParent() == exit) {
        candidate.leaving[k].phi->addIncoming(values[k], from);
      }
    }
    for (const auto& [phi, value] : candidate.passing) {
      if (phi->getParent() == exit) {
        phi->addIncoming(value, from);
      }
    }
  }
  return block;
}

/// Counts the lanes in the header, now and then.
void release_on_the_way(const Candidate& candidate, const llvm::Loop& loop) {
  llvm::BasicBlock* header = candidate.header;
  llvm::SmallVector<llvm::Value*, 8> phis;
  for (llvm::PHINode& phi : header->phis()) {
    phis.push_back(&phi);
  }
  llvm::BasicBlock* body = header->splitBasicBlock(header->getFirstNonPHIIt(), "body");
  header->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(header);
  llvm::BasicBlock* count =
      llvm::BasicBlock::Create(header->getContext(), "count", header->getParent());
  llvm::PHINode* turn =
      llvm::PHINode::Create(builder.getInt32Ty(), 2, "turn", header->getFirstNonPHIIt());
  llvm::Value* next = builder.CreateAdd(turn, builder.getInt32(1));
  for (llvm::BasicBlock* from : llvm::predecessors(header)) {
    const bool is_first = from != body && !loop.contains(from);
    turn->addIncoming(is_first ? builder.getInt32(0) : next, from);
  }
  llvm::Value* rest = builder.CreateAnd(turn, builder.getInt32(kIterationsBetween - 1));
  builder.CreateCondBr(builder.CreateICmpEQ(rest, builder.getInt32(0)), count, body);
  builder.SetInsertPoint(count);
  builder.CreateCondBr(create_few(builder, candidate.few), write_call(candidate, phis), body);
}

/// Counts the lanes before a loop that all of them leave together.
void release_at_entry(const Candidate& candidate, llvm::BasicBlock* preheader) {
  llvm::SmallVector<llvm::Value*, 8> phis;
  for (llvm::PHINode& phi : candidate.header->phis()) {
    phis.push_back(phi.getIncomingValueForBlock(preheader));
  }
  preheader->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(preheader);
  builder.CreateCondBr(create_few(builder, candidate.few), write_call(candidate, phis),
                       candidate.header);
}

}  // namespace

unsigned release_lone_lanes(llvm::Function& function,
                            Lanes lanes,
                            llvm::ArrayRef<VersionedLoop> versions) {
  const Facts facts(function, lanes);
  std::vector<std::pair<const llvm::Loop*, Candidate>> candidates;
  unsigned size = 0;
  for (const llvm::Loop* loop : facts.control_flow.loops().getLoopsInPreorder()) {
    const bool is_copy = llvm::any_of(
        versions, [&](const VersionedLoop& version) { return version.full == loop->getHeader(); });
    // Where few lanes enter a copy, they go to the loop itself instead.
    auto found = is_copy ? std::nullopt : candidate(*loop, facts);
    if (!found) {
      continue;
    }
    found->alone = write_alone(*loop, *found);
    size += found->alone->getInstructionCount();
    if (size > kMaxInstructions) {
      found->alone->eraseFromParent();
      break;
    }
    candidates.emplace_back(loop, std::move(*found));
  }
  std::map<const llvm::BasicBlock*, unsigned> few;
  for (const auto& [loop, candidate] : candidates) {
    few[candidate.header] = candidate.few;
  }
  for (const VersionedLoop& version : versions) {
    llvm::BasicBlock* block = version.few->getParent();
    const auto found = few.find(version.masked);
    if (found != few.end() && !facts.runs_in_every_lane(block)) {
      version.few->setArgOperand(
          0, llvm::ConstantInt::get(version.few->getArgOperand(0)->getType(), found->second));
    } else {
      version.few->replaceAllUsesWith(llvm::ConstantInt::getFalse(function.getContext()));
      version.few->eraseFromParent();
      llvm::ConstantFoldTerminator(block);
    }
  }
  for (const auto& [loop, candidate] : candidates) {
    if (candidate.is_divergent) {
      release_on_the_way(candidate, *loop);
    } else {
      release_at_entry(candidate, loop->getLoopPreheader());
    }
  }
  return static_cast<unsigned>(candidates.size());
}

}  // namespace pewter::compiler::spmd
