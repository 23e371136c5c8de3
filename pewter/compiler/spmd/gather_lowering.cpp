#include "pewter/compiler/spmd/gather_lowering.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include "pewter/compiler/spmd/lane_addresses.h"

namespace pewter::compiler::spmd {
namespace {

using Builder = llvm::IRBuilder<>;

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

/// Lanes beside each other.
struct Run {
  unsigned first = 0;
  unsigned count = 0;
};

/// The lanes of a mask that is known, when they are beside each other.
std::optional<Run> active_run(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) {
    return std::nullopt;
  }
  Run run;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto* flag =
        llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
    if (flag == nullptr) {
      return std::nullopt;
    }
    if (flag->isZero()) {
      continue;
    }
    if (run.count == 0) {
      run.first = lane;
    } else if (lane != run.first + run.count) {
      return std::nullopt;
    }
    ++run.count;
  }
  return run;
}

/// The address of the first lane of a run whose lanes are one element apart.
llvm::Value* address_of_run(Builder& builder,
                            llvm::Value* pointers,
                            const Run& run,
                            llvm::Type* element) {
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
  if (address == nullptr || address->getNumOperands() != 2 ||
      address->getPointerOperandType()->isVectorTy()) {
    return nullptr;
  }
  const auto* offsets = llvm::dyn_cast<llvm::Constant>(address->getOperand(1));
  if (offsets == nullptr || !offsets->getType()->isVectorTy()) {
    return nullptr;
  }
  const llvm::DataLayout& layout = address->getDataLayout();
  const auto unit =
      static_cast<std::int64_t>(layout.getTypeAllocSize(address->getSourceElementType()));
  const auto size = static_cast<std::int64_t>(layout.getTypeStoreSize(element));
  std::int64_t first = 0;
  for (unsigned i = 0; i < run.count; ++i) {
    const auto* offset =
        llvm::dyn_cast_or_null<llvm::ConstantInt>(offsets->getAggregateElement(run.first + i));
    if (offset == nullptr) {
      return nullptr;
    }
    const std::int64_t bytes = offset->getSExtValue() * unit;
    if (i == 0) {
      first = bytes;
    } else if (bytes != first + static_cast<std::int64_t>(i) * size) {
      return nullptr;
    }
  }
  return builder.CreateGEP(builder.getInt8Ty(), address->getOperand(0),
                           builder.getInt64(static_cast<std::uint64_t>(first)));
}

llvm::Value* load_run(Builder& builder,
                      llvm::FixedVectorType* type,
                      const Run& run,
                      llvm::Value* address,
                      llvm::Align alignment,
                      llvm::Value* otherwise) {
  llvm::Value* part = builder.CreateAlignedLoad(
      llvm::FixedVectorType::get(type->getElementType(), run.count), address, alignment);
  llvm::SmallVector<int, 16> widen(type->getNumElements(), llvm::PoisonMaskElem);
  llvm::SmallVector<int, 16> blend(type->getNumElements());
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const bool is_inside = lane >= run.first && lane < run.first + run.count;
    widen[lane] = is_inside ? static_cast<int>(lane - run.first) : llvm::PoisonMaskElem;
    blend[lane] = static_cast<int>(is_inside ? lane : lane + type->getNumElements());
  }
  llvm::Value* whole = builder.CreateShuffleVector(part, widen);
  return llvm::isa<llvm::UndefValue>(otherwise)
             ? whole
             : builder.CreateShuffleVector(whole, otherwise, blend);
}

/// Replaces an access whose mask is known by one of the active lanes alone. Masked instructions are
/// slow, and what they store cannot be loaded again at once.
void narrow(llvm::IntrinsicInst& access) {
  const llvm::Intrinsic::ID id = access.getIntrinsicID();
  const bool is_store = id == llvm::Intrinsic::masked_store;
  const bool is_gather = id == llvm::Intrinsic::masked_gather;
  if (!is_store && !is_gather && id != llvm::Intrinsic::masked_load) {
    return;
  }
  const unsigned first = is_store ? 1 : 0;
  llvm::Value* address = access.getArgOperand(first);
  const auto run = active_run(access.getArgOperand(first + 2));
  auto* type = llvm::cast<llvm::FixedVectorType>(is_store ? access.getArgOperand(0)->getType()
                                                          : access.getType());
  if (!run || run->count == 0) {
    return;
  }
  const llvm::Align alignment(
      llvm::cast<llvm::ConstantInt>(access.getArgOperand(first + 1))->getZExtValue());
  Builder builder(&access);
  if (is_gather) {
    address = address_of_run(builder, address, *run, type->getElementType());
    if (address == nullptr) {
      return;
    }
  } else {
    address = builder.CreateConstGEP1_32(type->getElementType(), address, run->first);
  }
  const llvm::Align element_alignment =
      std::min(alignment, access.getDataLayout().getABITypeAlign(type->getElementType()));
  if (is_store) {
    llvm::SmallVector<int, 16> order;
    for (unsigned i = 0; i < run->count; ++i) {
      order.push_back(static_cast<int>(run->first + i));
    }
    builder.CreateAlignedStore(builder.CreateShuffleVector(access.getArgOperand(0), order), address,
                               element_alignment);
  } else {
    access.replaceAllUsesWith(
        load_run(builder, type, *run, address, element_alignment, access.getArgOperand(3)));
  }
  access.eraseFromParent();
}

}  // namespace

void narrow_known_accesses(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
      narrow(*intrinsic);
    }
  }
}

void lower_gathers(llvm::Module& module) {
  for (llvm::Function& function : module) {
    narrow_known_accesses(function);
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
