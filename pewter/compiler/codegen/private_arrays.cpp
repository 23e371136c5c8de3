#include "pewter/compiler/codegen/private_arrays.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

namespace pewter::compiler::codegen {
namespace {

/// The operand of an address that counts elements of an array, when it is not constant.
llvm::Use* element_index(llvm::GetElementPtrInst& address, llvm::ArrayType& array) {
  const unsigned last = address.getNumOperands() - 1;
  const bool through_array = address.getSourceElementType() == &array && last == 2 &&
                             llvm::isa<llvm::ConstantInt>(address.getOperand(1)) &&
                             llvm::cast<llvm::ConstantInt>(address.getOperand(1))->isZero();
  const bool through_element =
      address.getSourceElementType() == array.getElementType() && last == 1;
  if ((!through_array && !through_element) || llvm::isa<llvm::Constant>(address.getOperand(last)) ||
      !address.getOperand(last)->getType()->isIntegerTy()) {
    return nullptr;
  }
  return &address.getOperandUse(last);
}

}  // namespace

void bound_private_arrays(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> arrays;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable != nullptr && variable->getAllocatedType()->isArrayTy() &&
        !variable->isArrayAllocation()) {
      arrays.push_back(variable);
    }
  }
  for (llvm::AllocaInst* variable : arrays) {
    auto* type = llvm::cast<llvm::ArrayType>(variable->getAllocatedType());
    std::vector<llvm::Use*> indices;
    for (llvm::User* user : variable->users()) {
      auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
      if (address == nullptr || address->getPointerOperand() != variable) {
        continue;
      }
      if (llvm::Use* index = element_index(*address, *type)) {
        indices.push_back(index);
      }
    }
    if (indices.empty()) {
      continue;
    }
    for (llvm::Use* index : indices) {
      llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(index->getUser()));
      // Widened with its sign, as addresses are computed, so that less than zero is far beyond.
      llvm::Value* wide = builder.CreateSExtOrTrunc(index->get(), builder.getInt64Ty());
      index->set(builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, wide,
                                               builder.getInt64(type->getNumElements())));
    }
    variable->setAllocatedType(
        llvm::ArrayType::get(type->getElementType(), type->getNumElements() + 1));
  }
}

}  // namespace pewter::compiler::codegen
