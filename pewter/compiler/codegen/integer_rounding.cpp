#include "pewter/compiler/codegen/integer_rounding.h"

#include <cstdint>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

namespace pewter::compiler::codegen {
namespace {

/// Integers of less than 2^limit_power keep their bits down to 2^unit_power. These are 24 bits at
/// the most, as many as float has, and more than the 9 that decide about bfloat.
struct Range {
  unsigned limit_power;
  unsigned unit_power;
};
constexpr Range kRanges[] = {{24, 0}, {39, 15}, {54, 30}, {64, 40}};
constexpr Range kNarrowRanges[] = {{24, 0}, {32, 8}};

llvm::Value* is_below(llvm::IRBuilder<>& builder,
                      llvm::Value* value,
                      unsigned power,
                      bool is_signed) {
  llvm::Type* type = value->getType();
  const std::uint64_t limit = std::uint64_t{1} << power;
  if (!is_signed) {
    return builder.CreateICmpULT(value, llvm::ConstantInt::get(type, limit));
  }
  llvm::Value* raised = builder.CreateAdd(value, llvm::ConstantInt::get(type, limit));
  return builder.CreateICmpULT(raised, llvm::ConstantInt::get(type, 2 * limit));
}

/// The value where float holds it; otherwise its upper bits, the last of which is set, so that it
/// stays between the same two.
llvm::Value* shortened(llvm::IRBuilder<>& builder, llvm::Value* value, bool is_signed) {
  llvm::Type* type = value->getType();
  const bool is_narrow = type->getScalarSizeInBits() == 32;
  const llvm::ArrayRef<Range> ranges =
      is_narrow ? llvm::ArrayRef<Range>(kNarrowRanges) : llvm::ArrayRef<Range>(kRanges);
  const auto unit_of = [&](const Range& range) {
    return llvm::ConstantInt::get(type, std::uint64_t{1} << range.unit_power);
  };
  llvm::Value* unit = unit_of(ranges.back());
  for (const Range& range : llvm::reverse(ranges.drop_back())) {
    unit = builder.CreateSelect(is_below(builder, value, range.limit_power, is_signed),
                                unit_of(range), unit);
  }
  llvm::Value* mask = builder.CreateSub(unit, llvm::ConstantInt::get(type, 1));
  llvm::Value* is_whole = builder.CreateIsNull(builder.CreateAnd(value, mask));
  llvm::Value* upper = builder.CreateAnd(value, builder.CreateNot(mask));
  return builder.CreateSelect(is_whole, value, builder.CreateOr(upper, unit));
}

}  // namespace

void round_integers_once(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const bool is_signed = instruction.getOpcode() == llvm::Instruction::SIToFP;
    if ((!is_signed && instruction.getOpcode() != llvm::Instruction::UIToFP) ||
        !instruction.getType()->getScalarType()->isBFloatTy()) {
      continue;
    }
    llvm::Value* value = instruction.getOperand(0);
    const unsigned bits = value->getType()->getScalarSizeInBits();
    if (bits != 32 && bits != 64) {
      continue;
    }
    llvm::IRBuilder<> builder(&instruction);
    llvm::Type* single = instruction.getType()->getWithNewType(builder.getFloatTy());
    llvm::Value* kept = shortened(builder, value, is_signed);
    llvm::Value* real =
        is_signed ? builder.CreateSIToFP(kept, single) : builder.CreateUIToFP(kept, single);
    instruction.replaceAllUsesWith(builder.CreateFPTrunc(real, instruction.getType()));
    instruction.eraseFromParent();
  }
}

}  // namespace pewter::compiler::codegen
