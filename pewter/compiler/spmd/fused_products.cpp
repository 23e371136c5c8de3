#include "pewter/compiler/spmd/fused_products.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

namespace pewter::compiler::spmd {
namespace {

bool is_float(const llvm::Type* type) {
  return type->getScalarType()->isFloatTy();
}

/// A product that nothing but the given sum needs.
llvm::BinaryOperator* lone_product(llvm::Value* value, const llvm::Instruction& sum) {
  auto* product = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return product != nullptr && product->getOpcode() == llvm::Instruction::FMul &&
                 product->hasAllowContract() && product->hasOneUse() &&
                 product->getParent() == sum.getParent()
             ? product
             : nullptr;
}

llvm::IntrinsicInst* as_fused(llvm::Value* value) {
  return is_fused_product(value) ? llvm::cast<llvm::IntrinsicInst>(value) : nullptr;
}

/// A fused product that nothing but the given sum needs and whose place in it is free.
llvm::IntrinsicInst* lone_fused(llvm::Value* value, const llvm::Instruction& sum) {
  llvm::IntrinsicInst* fused = as_fused(value);
  return fused != nullptr && fused->hasAllowReassoc() && fused->hasOneUse() &&
                 fused->getParent() == sum.getParent()
             ? fused
             : nullptr;
}

llvm::Value* fuse(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  return builder.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

/// `(a * b + c * d) + e`, with the first product fused, as `a * b + (c * d + e)` with both.
llvm::Value* fuse_innermost(llvm::IRBuilder<>& builder,
                            llvm::Instruction& sum,
                            llvm::Value* first,
                            llvm::Value* second) {
  llvm::SmallVector<llvm::IntrinsicInst*, 4> chain;
  llvm::BinaryOperator* innermost = nullptr;
  for (llvm::IntrinsicInst* fused = lone_fused(first, sum); fused != nullptr;) {
    chain.push_back(fused);
    llvm::Value* rest = fused->getArgOperand(2);
    innermost = lone_product(rest, sum);
    fused = lone_fused(rest, sum);
  }
  if (innermost == nullptr) {
    return nullptr;
  }
  llvm::Value* result = fuse(builder, innermost->getOperand(0), innermost->getOperand(1), second);
  for (llvm::IntrinsicInst* fused : llvm::reverse(chain)) {
    result = fuse(builder, fused->getArgOperand(0), fused->getArgOperand(1), result);
  }
  return result;
}

llvm::Value* fused_sum(llvm::BinaryOperator& sum) {
  llvm::IRBuilder<> builder(&sum);
  builder.setFastMathFlags(sum.getFastMathFlags());
  llvm::Value* first = sum.getOperand(0);
  llvm::Value* second = sum.getOperand(1);
  if (sum.getOpcode() == llvm::Instruction::FSub) {
    if (const auto* product = lone_product(first, sum)) {
      return fuse(builder, product->getOperand(0), product->getOperand(1),
                  builder.CreateFNeg(second));
    }
    if (const auto* product = lone_product(second, sum)) {
      return fuse(builder, builder.CreateFNeg(product->getOperand(0)), product->getOperand(1),
                  first);
    }
    return nullptr;
  }
  if (const auto* product = lone_product(first, sum)) {
    return fuse(builder, product->getOperand(0), product->getOperand(1), second);
  }
  if (const auto* product = lone_product(second, sum)) {
    return fuse(builder, product->getOperand(0), product->getOperand(1), first);
  }
  if (!sum.hasAllowReassoc()) {
    return nullptr;
  }
  llvm::Value* result = fuse_innermost(builder, sum, first, second);
  return result != nullptr ? result : fuse_innermost(builder, sum, second, first);
}

}  // namespace

bool is_fused_product(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

void fuse_products(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
    if (sum == nullptr ||
        (sum->getOpcode() != llvm::Instruction::FAdd &&
         sum->getOpcode() != llvm::Instruction::FSub) ||
        !is_float(sum->getType()) || !sum->hasAllowContract()) {
      continue;
    }
    if (llvm::Value* fused = fused_sum(*sum)) {
      fused->takeName(sum);
      llvm::cast<llvm::Instruction>(fused)->copyMetadata(*sum);
      sum->replaceAllUsesWith(fused);
      // At once: whether a product has other users is asked of what follows.
      llvm::RecursivelyDeleteTriviallyDeadInstructions(sum);
    }
  }
}

void split_products(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    llvm::IntrinsicInst* fused = as_fused(&instruction);
    if (fused == nullptr || !fused->hasAllowReassoc() || !is_float(fused->getType())) {
      continue;
    }
    llvm::IRBuilder<> builder(fused);
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    builder.setFastMathFlags(flags);
    llvm::Value* product = builder.CreateFMul(fused->getArgOperand(0), fused->getArgOperand(1));
    flags.setAllowReassoc();
    builder.setFastMathFlags(flags);
    llvm::Value* sum = builder.CreateFAdd(fused->getArgOperand(2), product);
    sum->takeName(fused);
    fused->replaceAllUsesWith(sum);
    fused->eraseFromParent();
  }
}

void drop_freedoms(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::FPMathOperator>(instruction)) {
      llvm::FastMathFlags flags;
      flags.setNoNaNs(instruction.hasNoNaNs());
      flags.setNoInfs(instruction.hasNoInfs());
      instruction.copyFastMathFlags(flags);
    }
  }
}

}  // namespace pewter::compiler::spmd
