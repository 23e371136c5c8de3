#include "pewter/compiler/codegen/saturation.h"

#include <cmath>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace pewter::compiler::codegen {
namespace {

/// A conversion from floating point to an integer type.
struct Conversion {
  llvm::Value* value = nullptr;
  llvm::Type* type = nullptr;
  bool is_signed = false;
};

Conversion conversion_of(llvm::Instruction& instruction) {
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::Intrinsic::ID id = intrinsic->getIntrinsicID();
    if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat) {
      return {intrinsic->getArgOperand(0), intrinsic->getType(), id == llvm::Intrinsic::fptosi_sat};
    }
  } else if (instruction.getOpcode() == llvm::Instruction::FPToSI ||
             instruction.getOpcode() == llvm::Instruction::FPToUI) {
    return {instruction.getOperand(0), instruction.getType(),
            instruction.getOpcode() == llvm::Instruction::FPToSI};
  }
  return {};
}

/// From float: half and bfloat have been widened.
llvm::Value* convert(llvm::IRBuilder<>& builder, const Conversion& conversion) {
  llvm::Value* value = conversion.value;
  llvm::Type* real = value->getType();
  llvm::Type* type = conversion.type;
  const unsigned bits = type->getScalarSizeInBits();
  const int high_power = static_cast<int>(conversion.is_signed ? bits - 1 : bits);
  // Both bounds are powers of two, or zero, and so exact.
  llvm::Value* low =
      llvm::ConstantFP::get(real, conversion.is_signed ? -std::ldexp(1.0, high_power) : 0.0);
  // Compared in the order that processors' maxima have: NaN becomes the bound.
  llvm::Value* raised = builder.CreateSelect(builder.CreateFCmpOGT(value, low), value, low);
  llvm::Value* result = nullptr;
  if (bits <= 16) {
    // The largest integer is exact too, and more elements fit into a register on the way.
    llvm::Type* wide = type->getWithNewBitWidth(32);
    llvm::Value* high = llvm::ConstantFP::get(real, std::ldexp(1.0, high_power) - 1);
    llvm::Value* clamped = builder.CreateSelect(builder.CreateFCmpOLT(raised, high), raised, high);
    result = builder.CreateTrunc(builder.CreateFPToSI(clamped, wide), type);
  } else {
    llvm::Value* end = llvm::ConstantFP::get(real, std::ldexp(1.0, high_power));
    llvm::Value* largest =
        llvm::ConstantInt::get(type, conversion.is_signed ? llvm::APInt::getSignedMaxValue(bits)
                                                          : llvm::APInt::getMaxValue(bits));
    llvm::Value* plain = conversion.is_signed ? builder.CreateFPToSI(raised, type)
                                              : builder.CreateFPToUI(raised, type);
    result = builder.CreateSelect(builder.CreateFCmpOGE(value, end), largest,
                                  builder.CreateFreeze(plain));
  }
  if (!conversion.is_signed) {
    return result;
  }
  llvm::Value* is_number = builder.CreateFCmpORD(value, llvm::Constant::getNullValue(real));
  return builder.CreateSelect(is_number, result, llvm::Constant::getNullValue(type));
}

}  // namespace

void saturate_conversions(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    Conversion conversion = conversion_of(instruction);
    if (conversion.value == nullptr) {
      continue;
    }
    llvm::IRBuilder<> builder(&instruction);
    llvm::Type* real = conversion.value->getType();
    if (real->getScalarSizeInBits() < 32) {
      conversion.value =
          builder.CreateFPExt(conversion.value, real->getWithNewType(builder.getFloatTy()));
    }
    instruction.replaceAllUsesWith(convert(builder, conversion));
    instruction.eraseFromParent();
  }
}

}  // namespace pewter::compiler::codegen
