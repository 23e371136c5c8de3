#include "pewter/compiler/spmd/preparation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BreakCriticalEdges.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"

#include "pewter/compiler/spmd/overflow_checks.h"
#include "pewter/compiler/spmd/private_memory.h"

namespace pewter::compiler::spmd {
namespace {

// Copies up to this size become single loads and stores.
constexpr std::uint64_t kMaxUnrolledCopy = 256;
// Sets of more units than that become loops.
constexpr std::uint64_t kMaxUnrolledStores = 64;
constexpr unsigned kMaxUnit = 8;

/// The largest unit up to a limit that copies and sets of a constant size can go by.
unsigned unit_bytes(std::uint64_t size, llvm::Align alignment, unsigned limit) {
  unsigned unit = limit;
  while (unit > 1 && (size % unit != 0 || alignment.value() % unit != 0)) {
    unit /= 2;
  }
  return unit;
}

/// The largest unit by which private memory is accessed, so that copies and sets do not tear apart
/// what lies side by side for neighbouring lanes.
unsigned accessed_unit(llvm::Value* pointer) {
  auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0));
  if (variable == nullptr) {
    return kMaxUnit;
  }
  const llvm::DataLayout& layout = variable->getDataLayout();
  std::uint64_t largest = 0;
  for (llvm::Instruction* instruction : uses_of(*variable)) {
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction)) {
      llvm::Type* element = llvm::getLoadStoreType(instruction)->getScalarType();
      largest = std::max(largest, layout.getTypeStoreSize(element).getFixedValue());
    }
  }
  return largest == 0 || largest >= kMaxUnit ? kMaxUnit
                                             : static_cast<unsigned>(llvm::PowerOf2Ceil(largest));
}

void expand_copy(llvm::MemTransferInst& copy, std::uint64_t size) {
  llvm::IRBuilder<> builder(&copy);
  const llvm::Align alignment =
      std::min(copy.getDestAlign().valueOrOne(), copy.getSourceAlign().valueOrOne());
  // Vectors of words are what is copied most, and words are what lanes exchange best.
  constexpr unsigned kWord = 4;
  const unsigned limit = std::min(accessed_unit(copy.getSource()), accessed_unit(copy.getDest()));
  const unsigned unit =
      unit_bytes(size, alignment, size % 16 == 0 ? std::min(kWord, limit) : limit);
  llvm::Type* type = builder.getIntNTy(unit * 8);
  std::vector<llvm::Value*> values;
  for (std::uint64_t at = 0; at < size; at += unit) {
    values.push_back(builder.CreateAlignedLoad(
        type, builder.CreateConstGEP1_64(builder.getInt8Ty(), copy.getSource(), at),
        llvm::Align(unit)));
  }
  for (std::uint64_t at = 0; at < size; at += unit) {
    builder.CreateAlignedStore(values[at / unit],
                               builder.CreateConstGEP1_64(builder.getInt8Ty(), copy.getDest(), at),
                               llvm::Align(unit));
  }
}

void expand_set(llvm::MemSetInst& set, std::uint64_t size) {
  llvm::IRBuilder<> builder(&set);
  const unsigned unit =
      unit_bytes(size, set.getDestAlign().valueOrOne(), accessed_unit(set.getDest()));
  llvm::Type* type = builder.getIntNTy(unit * 8);
  llvm::Value* value = builder.CreateZExt(set.getValue(), type);
  for (unsigned bytes = 1; bytes < unit; bytes *= 2) {
    value = builder.CreateOr(value, builder.CreateShl(value, std::uint64_t(bytes) * 8));
  }
  if (size / unit > kMaxUnrolledStores) {
    const auto [body, index] =
        llvm::SplitBlockAndInsertSimpleForLoop(builder.getInt64(size / unit), &set);
    builder.SetInsertPoint(body);
    builder.CreateAlignedStore(value, builder.CreateGEP(type, set.getDest(), index),
                               llvm::Align(unit));
    return;
  }
  for (std::uint64_t at = 0; at < size; at += unit) {
    builder.CreateAlignedStore(value,
                               builder.CreateConstGEP1_64(builder.getInt8Ty(), set.getDest(), at),
                               llvm::Align(unit));
  }
}

void expand_memory_intrinsics(llvm::Function& function, const llvm::TargetTransformInfo& target) {
  std::vector<llvm::MemIntrinsic*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      found.push_back(intrinsic);
    }
  }
  for (llvm::MemIntrinsic* intrinsic : found) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(intrinsic->getLength());
    const bool is_small = length != nullptr && length->getZExtValue() <= kMaxUnrolledCopy;
    if (auto* move = llvm::dyn_cast<llvm::MemMoveInst>(intrinsic)) {
      if (is_small) {
        expand_copy(*move, length->getZExtValue());
      } else if (!llvm::expandMemMoveAsLoop(move, target)) {
        continue;
      }
    } else if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(intrinsic)) {
      if (is_small) {
        expand_copy(*copy, length->getZExtValue());
      } else {
        llvm::expandMemCpyAsLoop(copy, target);
      }
    } else if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(intrinsic)) {
      if (length != nullptr) {
        expand_set(*set, length->getZExtValue());
      } else {
        llvm::expandMemSetAsLoop(set);
      }
    } else {
      continue;
    }
    intrinsic->eraseFromParent();
  }
}

/// Casts of bits between a vector and something else, by shifts: components have to be single
/// values.
void expand_bit_casts(llvm::Function& function) {
  std::vector<llvm::BitCastInst*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    if (cast != nullptr && (cast->getSrcTy()->isVectorTy() || cast->getDestTy()->isVectorTy())) {
      found.push_back(cast);
    }
  }
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::BitCastInst* cast : found) {
    const std::uint64_t bits = layout.getTypeSizeInBits(cast->getSrcTy());
    if (bits > 512) {
      continue;
    }
    llvm::IRBuilder<> builder(cast);
    llvm::Value* source = cast->getOperand(0);
    const auto* from = llvm::dyn_cast<llvm::FixedVectorType>(cast->getSrcTy());
    const auto* to = llvm::dyn_cast<llvm::FixedVectorType>(cast->getDestTy());
    const unsigned from_count = from != nullptr ? from->getNumElements() : 1;
    const unsigned to_count = to != nullptr ? to->getNumElements() : 1;
    const std::uint64_t from_bits = bits / from_count;
    const std::uint64_t to_bits = bits / to_count;
    llvm::SmallVector<llvm::Value*, 16> parts;
    for (unsigned i = 0; i < from_count; ++i) {
      llvm::Value* part = from != nullptr ? builder.CreateExtractElement(source, i) : source;
      parts.push_back(
          builder.CreateBitCast(part, builder.getIntNTy(static_cast<unsigned>(from_bits))));
    }
    llvm::Value* result = llvm::PoisonValue::get(cast->getDestTy());
    for (unsigned i = 0; i < to_count; ++i) {
      llvm::Type* whole = builder.getIntNTy(static_cast<unsigned>(to_bits));
      llvm::Value* joined = nullptr;
      for (unsigned k = 0; k < from_count; ++k) {
        // The part of source element k that falls into element i.
        const auto offset =
            static_cast<std::int64_t>(k * from_bits) - static_cast<std::int64_t>(i * to_bits);
        if (offset >= static_cast<std::int64_t>(to_bits) ||
            offset + static_cast<std::int64_t>(from_bits) <= 0) {
          continue;
        }
        llvm::Value* part = parts[k];
        if (offset < 0) {
          part = builder.CreateLShr(part, static_cast<std::uint64_t>(-offset));
        }
        part = builder.CreateZExtOrTrunc(part, whole);
        if (offset > 0) {
          part = builder.CreateShl(part, static_cast<std::uint64_t>(offset));
        }
        joined = joined == nullptr ? part : builder.CreateOr(joined, part);
      }
      llvm::Value* element = builder.CreateBitCast(joined, cast->getDestTy()->getScalarType());
      result = to != nullptr ? builder.CreateInsertElement(result, element, i) : element;
    }
    cast->replaceAllUsesWith(result);
    cast->eraseFromParent();
  }
}

/// The number of a part that an instruction takes out of a value; nothing for any other
/// instruction.
std::optional<unsigned> taken_part(const llvm::Instruction& instruction) {
  if (const auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
    return index != nullptr ? std::optional(static_cast<unsigned>(index->getZExtValue()))
                            : std::nullopt;
  }
  const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction);
  return extract != nullptr && extract->getNumIndices() == 1
             ? std::optional(extract->getIndices()[0])
             : std::nullopt;
}

/// Takes the parts out of a value in the block that makes it, and puts them together again in the
/// blocks that use it: a phi between the two would be one of several values.
void split_between_blocks(llvm::Instruction& whole) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(whole.getType());
  const unsigned count =
      vector != nullptr ? vector->getNumElements() : whole.getType()->getStructNumElements();
  const auto is_elsewhere = [&](const llvm::User* user) {
    return llvm::cast<llvm::Instruction>(user)->getParent() != whole.getParent();
  };
  if (llvm::none_of(whole.users(), is_elsewhere)) {
    return;
  }
  const llvm::SmallSetVector<llvm::User*, 8> users(whole.user_begin(), whole.user_end());
  llvm::IRBuilder<> builder(&*whole.getInsertionPointAfterDef().value());
  llvm::SmallVector<llvm::Value*, 4> parts;
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* part = vector != nullptr ? llvm::findScalarElement(&whole, i) : nullptr;
    if (part == nullptr) {
      part = vector != nullptr ? builder.CreateExtractElement(&whole, i)
                               : builder.CreateExtractValue(&whole, i);
    }
    parts.push_back(part);
  }
  for (llvm::User* user : users) {
    auto* instruction = llvm::cast<llvm::Instruction>(user);
    if (const auto part = taken_part(*instruction); part && *part < count) {
      instruction->replaceAllUsesWith(parts[*part]);
      instruction->eraseFromParent();
    } else if (is_elsewhere(user) && !llvm::isa<llvm::PHINode>(user)) {
      builder.SetInsertPoint(instruction);
      llvm::Value* again = llvm::PoisonValue::get(whole.getType());
      for (unsigned i = 0; i < count; ++i) {
        again = vector != nullptr ? builder.CreateInsertElement(again, parts[i], i)
                                  : builder.CreateInsertValue(again, parts[i], i);
      }
      instruction->replaceUsesOfWith(&whole, again);
    }
  }
}

void split_between_blocks(llvm::Function& function) {
  std::vector<llvm::Instruction*> wholes;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::Type* type = instruction.getType();
    if ((llvm::isa<llvm::FixedVectorType>(type) || type->isStructTy()) &&
        !instruction.isTerminator() && !llvm::isa<llvm::PHINode>(instruction)) {
      wholes.push_back(&instruction);
    }
  }
  for (llvm::Instruction* whole : wholes) {
    split_between_blocks(*whole);
  }
}

/// What the scalarizer would leave whole.
void expand_operations(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  expand_memory_intrinsics(function, analyses.getResult<llvm::TargetIRAnalysis>(function));
  expand_bit_casts(function);
  expand_overflow_checks(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace

void split_values(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  expand_operations(function, analyses);
  llvm::ScalarizerPassOptions options;
  options.ScalarizeLoadStore = true;
  options.ScalarizeVariableInsertExtract = true;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ScalarizerPass(options));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.run(function, analyses);
  // What has come together again on the way.
  expand_operations(function, analyses);
  llvm::FunctionPassManager again;
  again.addPass(llvm::ScalarizerPass(options));
  again.addPass(llvm::EarlyCSEPass());
  again.addPass(llvm::ADCEPass());
  again.addPass(llvm::SimplifyCFGPass());
  again.run(function, analyses);
}

void lower_switches(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.run(function, analyses);
}

void simplify_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  lower_switches(function, analyses);
  split_between_blocks(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(function, analyses);
}

void structure_control_flow(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  lower_switches(function, analyses);
  split_between_blocks(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::FixIrreduciblePass());
  // Each of the two may undo a part of the other's work.
  for (int i = 0; i < 2; ++i) {
    passes.addPass(llvm::LoopSimplifyPass());
    passes.addPass(llvm::BreakCriticalEdgesPass());
  }
  passes.addPass(llvm::LCSSAPass());
  passes.run(function, analyses);
}

}  // namespace pewter::compiler::spmd
