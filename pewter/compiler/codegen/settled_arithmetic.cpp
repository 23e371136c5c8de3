#include "pewter/compiler/codegen/settled_arithmetic.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#include "pewter/compiler/spmd/fused_products.h"

namespace pewter::compiler::codegen {
namespace {

/// What a division divides by: the element that all elements of a vector are.
llvm::Value* common_divisor(const llvm::Instruction& division) {
  llvm::Value* divisor = division.getOperand(1);
  return divisor->getType()->isVectorTy() ? llvm::getSplatValue(divisor) : divisor;
}

unsigned element_count(const llvm::Value& value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return vector != nullptr ? vector->getNumElements() : 1;
}

/// Multiplies by 1 / y where a block divides by y more than once.
void share_reciprocals(llvm::BasicBlock& block) {
  llvm::MapVector<llvm::Value*, llvm::SmallVector<llvm::BinaryOperator*, 4>> divisions;
  for (llvm::Instruction& instruction : block) {
    if (instruction.getOpcode() != llvm::Instruction::FDiv || !instruction.hasAllowReciprocal() ||
        !instruction.getType()->getScalarType()->isFloatTy()) {
      continue;
    }
    llvm::Value* divisor = common_divisor(instruction);
    if (divisor != nullptr && !llvm::isa<llvm::Constant>(divisor)) {
      divisions[divisor].push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
    }
  }
  for (auto& [divisor, users] : divisions) {
    unsigned count = 0;
    for (const llvm::BinaryOperator* user : users) {
      count += element_count(*user);
    }
    if (count < 2) {
      continue;
    }
    llvm::IRBuilder<> builder(users.front());
    builder.setFastMathFlags(users.front()->getFastMathFlags());
    llvm::Value* reciprocal =
        builder.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1), divisor);
    for (llvm::BinaryOperator* user : users) {
      builder.SetInsertPoint(user);
      builder.setFastMathFlags(user->getFastMathFlags());
      llvm::Value* factor = reciprocal;
      if (user->getType()->isVectorTy()) {
        factor = builder.CreateVectorSplat(element_count(*user), reciprocal);
      }
      llvm::Value* product = builder.CreateFMul(user->getOperand(0), factor);
      product->takeName(user);
      user->replaceAllUsesWith(product);
      user->eraseFromParent();
    }
  }
}

bool is_sum_of_floats(const llvm::Instruction& instruction) {
  return instruction.getType()->getScalarType()->isFloatTy() &&
         (instruction.getOpcode() == llvm::Instruction::FAdd ||
          spmd::is_fused_product(&instruction));
}

}  // namespace

bool has_freedoms(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::FPMathOperator>(instruction) &&
           (instruction.hasAllowContract() || instruction.hasAllowReassoc() ||
            instruction.hasAllowReciprocal() || instruction.hasNoSignedZeros() ||
            instruction.hasApproxFunc());
  });
}

llvm::PreservedAnalyses SettleArithmetic::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& /*analyses*/) {
  for (llvm::BasicBlock& block : function) {
    share_reciprocals(block);
  }
  spmd::fuse_products(function);
  llvm::SmallPtrSet<llvm::Instruction*, 16> sums;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (is_sum_of_floats(instruction) && instruction.hasAllowReassoc()) {
      sums.insert(&instruction);
    }
  }
  spmd::drop_freedoms(function);
  for (llvm::Instruction* sum : sums) {
    sum->setHasAllowReassoc(true);
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace pewter::compiler::codegen
