#include "pewter/compiler/spmd/overflow_checks.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace pewter::compiler::spmd {
namespace {

/// Whether the result of a sum or a difference is not what twice the bits would give.
llvm::Value* has_carried(llvm::IRBuilder<>& builder,
                         const llvm::WithOverflowInst& check,
                         llvm::Value* result) {
  llvm::Value* left = check.getLHS();
  llvm::Value* right = check.getRHS();
  const bool is_sum = check.getBinaryOp() == llvm::Instruction::Add;
  if (!check.isSigned()) {
    return is_sum ? builder.CreateICmpULT(result, left) : builder.CreateICmpULT(left, right);
  }
  // The operands' signs allow it, and the result has not the sign of the first.
  llvm::Value* signs = builder.CreateXor(left, right);
  llvm::Value* may = is_sum ? builder.CreateNot(signs) : signs;
  llvm::Value* turned = builder.CreateAnd(may, builder.CreateXor(result, left));
  return builder.CreateICmpSLT(turned, llvm::Constant::getNullValue(turned->getType()));
}

llvm::Value* has_lost_bits(llvm::IRBuilder<>& builder,
                           const llvm::WithOverflowInst& check,
                           llvm::Value* result) {
  llvm::Type* wide = result->getType()->getExtendedType();
  const auto extended = [&](llvm::Value* value) {
    return check.isSigned() ? builder.CreateSExt(value, wide) : builder.CreateZExt(value, wide);
  };
  llvm::Value* product = builder.CreateMul(extended(check.getLHS()), extended(check.getRHS()));
  return builder.CreateICmpNE(product, extended(result));
}

}  // namespace

void expand_overflow_checks(llvm::Function& function) {
  std::vector<llvm::WithOverflowInst*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* check = llvm::dyn_cast<llvm::WithOverflowInst>(&instruction)) {
      found.push_back(check);
    }
  }
  for (llvm::WithOverflowInst* check : found) {
    llvm::IRBuilder<> builder(check);
    llvm::Value* result =
        builder.CreateBinOp(check->getBinaryOp(), check->getLHS(), check->getRHS());
    llvm::Value* overflow = check->getBinaryOp() == llvm::Instruction::Mul
                                ? has_lost_bits(builder, *check, result)
                                : has_carried(builder, *check, result);
    llvm::Value* both = llvm::PoisonValue::get(check->getType());
    both = builder.CreateInsertValue(both, result, 0);
    check->replaceAllUsesWith(builder.CreateInsertValue(both, overflow, 1));
    check->eraseFromParent();
  }
}

}  // namespace pewter::compiler::spmd
