#include "pewter/compiler/spmd/lone_region.h"

#include <algorithm>
#include <string>

#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

using Kind = DeviceCall::Kind;

// A call would have vectors of results, and whatever else is in registers, wait in memory.
constexpr unsigned kMaxInlinedInstructions = 64;

bool can_be_alone(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst>(instruction) || llvm::isa<llvm::ReturnInst>(instruction)) {
    return false;
  }
  if (!llvm::isa<llvm::CallBase>(instruction)) {
    return true;
  }
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->cannotDuplicate() || call->getCalledFunction() == nullptr) {
    return false;
  }
  return device_call(instruction).kind < Kind::GroupBarrier;
}

/// What a marker call says to a lane that is alone; null when the call is none.
llvm::Value* meaning_alone(llvm::Instruction& call, llvm::Value* lane) {
  switch (device_call(call).kind) {
    case Kind::Lane:
      return lane;
    case Kind::AllLanes:
    case Kind::Same:
      return call.getOperand(0);
    case Kind::FewLanes:
      return llvm::ConstantInt::getTrue(call.getContext());
    case Kind::LanesApart:
      return llvm::ConstantInt::getFalse(call.getContext());
    default:
      return nullptr;
  }
}

bool is_single_value(const llvm::Type* type) {
  return type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
}

bool is_from_outside(const llvm::Value* value, const LoneRegion& region) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction == nullptr ||
         !region.blocks.contains(const_cast<llvm::BasicBlock*>(instruction->getParent()));
}

/// What a phi of an exit is whichever way the region is left, when that comes from before it;
/// otherwise null.
llvm::Value* passing_value(const llvm::PHINode& phi, const LoneRegion& region) {
  llvm::Value* same = nullptr;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (!region.blocks.contains(phi.getIncomingBlock(i))) {
      continue;
    }
    llvm::Value* value = phi.getIncomingValue(i);
    if ((same != nullptr && value != same) || !is_from_outside(value, region)) {
      return nullptr;
    }
    same = value;
  }
  return same;
}

/// Whether everything is used inside of the region or by phis at its exits.
bool is_closed(const LoneRegion& region) {
  for (const llvm::BasicBlock* block : region.blocks) {
    for (const llvm::Instruction& instruction : *block) {
      for (const llvm::User* user : instruction.users()) {
        const auto* use = llvm::cast<llvm::Instruction>(user);
        auto* place = const_cast<llvm::BasicBlock*>(use->getParent());
        if (!region.blocks.contains(place) &&
            !(llvm::isa<llvm::PHINode>(use) && llvm::is_contained(region.exits, place))) {
          return false;
        }
      }
    }
  }
  return true;
}

llvm::FunctionType* function_type(const LoneRegion& region) {
  llvm::LLVMContext& context = region.entry->getContext();
  llvm::SmallVector<llvm::Type*, 8> parameters;
  for (const llvm::PHINode& phi : region.entry->phis()) {
    parameters.push_back(phi.getType());
  }
  for (const llvm::Value* input : region.inputs) {
    parameters.push_back(input != nullptr ? input->getType() : llvm::Type::getInt32Ty(context));
  }
  llvm::SmallVector<llvm::Type*, 8> results;
  for (const LoneRegion::Leaving& leaving : region.leaving) {
    results.push_back(leaving.phi->getType());
  }
  if (region.exits.size() > 1) {
    results.push_back(llvm::Type::getInt32Ty(context));
  }
  return llvm::FunctionType::get(llvm::StructType::get(context, results), parameters, false);
}

/// Returns what the way from `from` to an exit brings to the phis of that exit.
llvm::BasicBlock* write_return(const LoneRegion& region,
                               llvm::BasicBlock* from,
                               const llvm::BasicBlock* exit) {
  llvm::BasicBlock* leave = llvm::BasicBlock::Create(exit->getContext(), "leave", region.function);
  llvm::IRBuilder<> builder(leave);
  llvm::Value* result = llvm::PoisonValue::get(region.function->getReturnType());
  const auto count = static_cast<unsigned>(region.leaving.size());
  for (unsigned i = 0; i < count; ++i) {
    llvm::PHINode* phi = region.leaving[i].phi;
    if (phi->getParent() == exit) {
      result = builder.CreateInsertValue(result, phi->getIncomingValueForBlock(from), i);
    }
  }
  if (region.exits.size() > 1) {
    const auto number =
        std::find(region.exits.begin(), region.exits.end(), exit) - region.exits.begin();
    result =
        builder.CreateInsertValue(result, builder.getInt32(static_cast<unsigned>(number)), count);
  }
  builder.CreateRet(result);
  return leave;
}

/// A value that is the same in all active lanes, as one.
llvm::Value* as_uniform(llvm::IRBuilder<>& builder, llvm::Value* value) {
  std::string name = kSamePrefix;
  llvm::raw_string_ostream(name) << *value->getType();
  return create_marker(builder, name, value->getType(), {value});
}

/// The load of a place that a loop updates by compare-exchange, when `phi` is what was last seen of
/// that place and nobody else knows it.
const llvm::LoadInst* seen_place(const llvm::PHINode& phi, const LoneRegion& region) {
  const llvm::LoadInst* seen = nullptr;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (!region.blocks.contains(phi.getIncomingBlock(i))) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(phi.getIncomingValue(i));
      if (load == nullptr || seen != nullptr || !load->isAtomic() || !load->hasOneUse()) {
        return nullptr;
      }
      seen = load;
    }
  }
  for (unsigned i = 0; seen != nullptr && i < phi.getNumIncomingValues(); ++i) {
    if (region.blocks.contains(phi.getIncomingBlock(i))) {
      auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(phi.getIncomingValue(i));
      const auto* exchange =
          part != nullptr ? llvm::dyn_cast<llvm::AtomicCmpXchgInst>(part->getAggregateOperand())
                          : nullptr;
      const auto remembers = [&](llvm::User* user) {
        auto* other = llvm::dyn_cast<llvm::PHINode>(user);
        return user != &phi && (other == nullptr || region.blocks.contains(other->getParent()));
      };
      if (exchange == nullptr || part->getIndices()[0] != 0 ||
          llvm::any_of(part->users(), remembers) ||
          exchange->getPointerOperand() != seen->getPointerOperand()) {
        return nullptr;
      }
    }
  }
  return seen;
}

/// Lanes before this one have changed the places that they update, so what it saw of them before
/// its turn would cost it an exchange that fails.
void look_again(const LoneRegion& region,
                llvm::BasicBlock& entry,
                llvm::BasicBlock& start,
                const llvm::ValueToValueMapTy& map) {
  auto copy = entry.phis().begin();
  for (const llvm::PHINode& phi : region.entry->phis()) {
    llvm::PHINode& alone = *copy++;
    const llvm::LoadInst* seen = seen_place(phi, region);
    if (seen == nullptr || map.count(seen->getPointerOperand()) == 0) {
      continue;
    }
    llvm::Instruction* load = seen->clone();
    load->setOperand(0, map.lookup(seen->getPointerOperand()));
    load->setDebugLoc({});
    load->insertBefore(start.getTerminator());
    alone.setIncomingValueForBlock(&start, load);
  }
}

}  // namespace

std::optional<LoneRegion> find_lone_region(llvm::BasicBlock* entry,
                                           llvm::ArrayRef<llvm::BasicBlock*> blocks,
                                           unsigned max_instructions) {
  LoneRegion region;
  region.entry = entry;
  region.blocks.insert(blocks.begin(), blocks.end());
  llvm::SetVector<llvm::Value*> inputs;
  const auto take = [&](llvm::Value* value) {
    const bool is_value = llvm::isa<llvm::Argument>(value) || llvm::isa<llvm::Instruction>(value);
    if (is_value && is_from_outside(value, region)) {
      inputs.insert(value);
    }
  };
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : *block) {
      if (++region.instructions > max_instructions || !can_be_alone(instruction)) {
        return std::nullopt;
      }
      if (device_call(instruction).kind == Kind::Lane) {
        inputs.insert(nullptr);
      }
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
      for (llvm::Use& operand : instruction.operands()) {
        // What a phi of the entry is at the start is handed over as the phi itself.
        if (phi == nullptr || region.blocks.contains(phi->getIncomingBlock(operand))) {
          take(operand);
        }
      }
    }
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      if (!region.blocks.contains(next) && !llvm::is_contained(region.exits, next)) {
        region.exits.push_back(next);
      }
    }
  }
  if (region.exits.empty() || !is_closed(region)) {
    return std::nullopt;
  }
  for (llvm::BasicBlock* exit : region.exits) {
    for (llvm::PHINode& phi : exit->phis()) {
      if (llvm::Value* value = passing_value(phi, region)) {
        region.passing.emplace_back(&phi, value);
        continue;
      }
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        if (region.blocks.contains(phi.getIncomingBlock(i))) {
          take(phi.getIncomingValue(i));
        }
      }
      if (!is_single_value(phi.getType())) {
        return std::nullopt;
      }
      region.leaving.push_back({&phi});
    }
  }
  region.inputs.assign(inputs.begin(), inputs.end());
  const bool are_single = llvm::all_of(region.inputs, [](const llvm::Value* input) {
    return input == nullptr || is_single_value(input->getType());
  });
  return are_single ? std::optional(std::move(region)) : std::nullopt;
}

void write_lone_function(LoneRegion& region) {
  llvm::Function& source = *region.entry->getParent();
  llvm::LLVMContext& context = source.getContext();
  llvm::Function* function = llvm::Function::Create(
      function_type(region), llvm::GlobalValue::InternalLinkage, kAlonePrefix, source.getParent());
  region.function = function;
  function->setAttributes(llvm::AttributeList().addFnAttributes(
      context, llvm::AttrBuilder(context, source.getAttributes().getFnAttrs())));
  const bool is_small = region.instructions <= kMaxInlinedInstructions;
  function->removeFnAttr(is_small ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
  function->addFnAttr(is_small ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(context, "entry", function);
  const auto phis = region.entry->phis();
  auto next = static_cast<unsigned>(std::distance(phis.begin(), phis.end()));
  llvm::ValueToValueMapTy map;
  llvm::Value* lane = nullptr;
  for (llvm::Value* input : region.inputs) {
    if (input == nullptr) {
      lane = function->getArg(next++);
    } else {
      map[input] = function->getArg(next++);
    }
  }
  llvm::SmallVector<llvm::BasicBlock*, 16> copies;
  for (llvm::BasicBlock* block : region.blocks) {
    copies.push_back(llvm::CloneBasicBlock(block, map, "", function));
    map[block] = copies.back();
  }
  for (llvm::BasicBlock* block : region.blocks) {
    llvm::Instruction* branch = llvm::cast<llvm::BasicBlock>(map[block])->getTerminator();
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      llvm::BasicBlock* exit = branch->getSuccessor(i);
      if (!region.blocks.contains(exit)) {
        copies.push_back(write_return(region, block, exit));
        branch->setSuccessor(i, copies.back());
      }
    }
  }
  auto* entry = llvm::cast<llvm::BasicBlock>(map[region.entry]);
  unsigned number = 0;
  for (llvm::PHINode& phi : entry->phis()) {
    for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
      if (!region.blocks.contains(phi.getIncomingBlock(i))) {
        phi.removeIncomingValue(i, false);
      }
    }
    phi.addIncoming(function->getArg(number++), start);
  }
  llvm::BranchInst::Create(entry, start);
  look_again(region, *entry, *start, map);
  map[start] = start;
  llvm::remapInstructionsInBlocks(copies, map);
  for (llvm::BasicBlock* block : copies) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      if (llvm::Value* meaning = meaning_alone(instruction, lane)) {
        instruction.replaceAllUsesWith(meaning);
        instruction.eraseFromParent();
      } else {
        instruction.setDebugLoc({});
      }
    }
  }
}

llvm::BasicBlock* call_lone_function(const LoneRegion& region, llvm::ArrayRef<llvm::Value*> phis) {
  llvm::Function& function = *region.entry->getParent();
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* block = llvm::BasicBlock::Create(context, "alone", &function);
  llvm::IRBuilder<> builder(block);
  llvm::SmallVector<llvm::Value*, 8> arguments(phis);
  for (llvm::Value* input : region.inputs) {
    if (input == nullptr) {
      input = builder.CreateCall(
          function.getParent()->getOrInsertFunction(kLaneCall, builder.getInt32Ty()));
    }
    arguments.push_back(input);
  }
  llvm::Value* result = builder.CreateCall(region.function, arguments);
  const auto count = static_cast<unsigned>(region.leaving.size());
  llvm::SmallVector<llvm::Value*, 4> values;
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* value = builder.CreateExtractValue(result, i);
    values.push_back(region.leaving[i].is_uniform ? as_uniform(builder, value) : value);
  }
  llvm::Value* number =
      region.exits.size() > 1 ? builder.CreateExtractValue(result, count) : nullptr;
  for (unsigned i = 0; i < region.exits.size(); ++i) {
    llvm::BasicBlock* from = builder.GetInsertBlock();
    llvm::BasicBlock* exit = region.exits[i];
    if (i + 1 < region.exits.size()) {
      llvm::BasicBlock* others = llvm::BasicBlock::Create(context, "alone.others", &function);
      builder.CreateCondBr(builder.CreateICmpEQ(number, builder.getInt32(i)), exit, others);
      builder.SetInsertPoint(others);
    } else {
      builder.CreateBr(exit);
    }
    for (unsigned k = 0; k < count; ++k) {
      if (region.leaving[k].phi->getParent() == exit) {
        region.leaving[k].phi->addIncoming(values[k], from);
      }
    }
    for (const auto& [phi, value] : region.passing) {
      if (phi->getParent() == exit) {
        phi->addIncoming(value, from);
      }
    }
  }
  return block;
}

}  // namespace pewter::compiler::spmd
