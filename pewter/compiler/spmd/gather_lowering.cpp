#include "pewter/compiler/spmd/gather_lowering.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace pewter::compiler::spmd {
namespace {

using Builder = llvm::IRBuilder<>;

/// Addresses of single lanes out of a vector of them.
class LaneAddresses {
 public:
  LaneAddresses(Builder& builder, llvm::Value* pointers) : builder_(builder), pointers_(pointers) {
    // One base and an index for each lane: the index is taken out before it is widened.
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
    if (address == nullptr || address->getNumOperands() != 2 ||
        address->getPointerOperandType()->isVectorTy() ||
        !address->getOperand(1)->getType()->isVectorTy()) {
      return;
    }
    base_ = address->getOperand(0);
    element_ = address->getSourceElementType();
    index_ = address->getOperand(1);
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(index_);
        cast != nullptr && (llvm::isa<llvm::ZExtInst>(cast) || llvm::isa<llvm::SExtInst>(cast))) {
      is_signed_ = llvm::isa<llvm::SExtInst>(cast);
      index_ = cast->getOperand(0);
    }
  }

  llvm::Value* at(unsigned lane) {
    if (base_ == nullptr) {
      return builder_.CreateExtractElement(pointers_, lane);
    }
    llvm::Value* index = builder_.CreateExtractElement(index_, lane);
    index = is_signed_ ? builder_.CreateSExtOrTrunc(index, builder_.getInt64Ty())
                       : builder_.CreateZExtOrTrunc(index, builder_.getInt64Ty());
    return builder_.CreateGEP(element_, base_, index);
  }

 private:
  Builder& builder_;
  llvm::Value* pointers_;
  llvm::Value* base_ = nullptr;
  llvm::Value* index_ = nullptr;
  llvm::Type* element_ = nullptr;
  bool is_signed_ = false;
};

bool is_all_ones(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  return constant != nullptr && constant->isAllOnesValue();
}

/// Where lanes that are not active read and write.
llvm::Value* spare_memory(llvm::Function& function) {
  Builder builder(&function.getEntryBlock(), function.getEntryBlock().begin());
  llvm::AllocaInst* memory =
      builder.CreateAlloca(llvm::ArrayType::get(builder.getInt64Ty(), 8), nullptr, "spare");
  memory->setAlignment(llvm::Align(64));
  return memory;
}

}  // namespace

void lower_gathers(llvm::Module& module) {
  for (llvm::Function& function : module) {
    std::vector<llvm::IntrinsicInst*> found;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (intrinsic != nullptr &&
          (intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_gather ||
           intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_scatter)) {
        found.push_back(intrinsic);
      }
    }
    llvm::Value* spare = nullptr;
    for (llvm::IntrinsicInst* intrinsic : found) {
      const bool is_gather = intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_gather;
      const unsigned first = is_gather ? 0 : 1;
      llvm::Value* pointers = intrinsic->getArgOperand(first);
      const llvm::MaybeAlign alignment(
          llvm::cast<llvm::ConstantInt>(intrinsic->getArgOperand(first + 1))->getZExtValue());
      llvm::Value* mask = intrinsic->getArgOperand(first + 2);
      Builder builder(intrinsic);
      if (!is_all_ones(mask)) {
        if (spare == nullptr) {
          spare = spare_memory(function);
        }
        const auto* type = llvm::cast<llvm::FixedVectorType>(pointers->getType());
        pointers = builder.CreateSelect(mask, pointers,
                                        builder.CreateVectorSplat(type->getNumElements(), spare));
      }
      LaneAddresses addresses(builder, pointers);
      auto* type = llvm::cast<llvm::FixedVectorType>(
          is_gather ? intrinsic->getType() : intrinsic->getArgOperand(0)->getType());
      llvm::Value* joined = llvm::PoisonValue::get(type);
      for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
        if (is_gather) {
          joined = builder.CreateInsertElement(
              joined,
              builder.CreateAlignedLoad(type->getElementType(), addresses.at(lane), alignment),
              lane);
        } else {
          builder.CreateAlignedStore(
              builder.CreateExtractElement(intrinsic->getArgOperand(0), lane), addresses.at(lane),
              alignment);
        }
      }
      if (is_gather) {
        // The optimiser may have given lanes that are not active a value.
        llvm::Value* otherwise = intrinsic->getArgOperand(3);
        if (!is_all_ones(mask) && !llvm::isa<llvm::UndefValue>(otherwise)) {
          joined = builder.CreateSelect(mask, joined, otherwise);
        }
        intrinsic->replaceAllUsesWith(joined);
      }
      intrinsic->eraseFromParent();
    }
  }
}

}  // namespace pewter::compiler::spmd
