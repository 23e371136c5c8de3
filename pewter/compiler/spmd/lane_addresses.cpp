#include "pewter/compiler/spmd/lane_addresses.h"

namespace pewter::compiler::spmd {

LaneAddresses::LaneAddresses(llvm::IRBuilderBase& builder, llvm::Value* pointers)
    : builder_(builder), pointers_(pointers) {
  // One base and an index for each lane: the index is taken out before it is widened.
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
  if (address == nullptr || address->getNumOperands() < 2 ||
      address->getPointerOperandType()->isVectorTy()) {
    return;
  }
  const unsigned last = address->getNumOperands() - 1;
  for (unsigned i = 1; i < last; ++i) {
    const auto* index = llvm::dyn_cast<llvm::Constant>(address->getOperand(i));
    if (index == nullptr || !index->isNullValue()) {
      return;
    }
  }
  if (!address->getOperand(last)->getType()->isVectorTy()) {
    return;
  }
  base_ = address->getOperand(0);
  element_ = address->getResultElementType();
  index_ = address->getOperand(last);
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(index_);
      cast != nullptr && (llvm::isa<llvm::ZExtInst>(cast) || llvm::isa<llvm::SExtInst>(cast))) {
    is_signed_ = llvm::isa<llvm::SExtInst>(cast);
    index_ = cast->getOperand(0);
  }
}

llvm::Value* LaneAddresses::at(unsigned lane) {
  if (base_ == nullptr) {
    return builder_.CreateExtractElement(pointers_, lane);
  }
  llvm::Value* index = builder_.CreateExtractElement(index_, lane);
  index = is_signed_ ? builder_.CreateSExtOrTrunc(index, builder_.getInt64Ty())
                     : builder_.CreateZExtOrTrunc(index, builder_.getInt64Ty());
  return builder_.CreateGEP(element_, base_, index);
}

}  // namespace pewter::compiler::spmd
