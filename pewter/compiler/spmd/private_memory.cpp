#include "pewter/compiler/spmd/private_memory.h"

#include <vector>

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

constexpr std::uint64_t kLargestUnit = 8;

/// The loads and stores of a variable.
struct Accesses {
  std::vector<llvm::Instruction*> instructions;
  /// Bytes that stay together in a lane; 0 when the variable must stay whole.
  std::uint64_t unit = 0;
};

Accesses find_accesses(llvm::AllocaInst& variable, const llvm::DataLayout& layout) {
  Accesses found;
  found.unit = 1;
  std::vector<llvm::Instruction*> markers;
  for (llvm::Instruction* instruction : uses_of(variable)) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
        intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd()) {
      markers.push_back(intrinsic);
      continue;
    }
    std::uint64_t size = 0;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
      size = layout.getTypeStoreSize(load->getType());
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
               store != nullptr &&
               llvm::getUnderlyingObject(store->getValueOperand(), 0) != &variable) {
      size = layout.getTypeStoreSize(store->getValueOperand()->getType());
    }
    const bool fits = size != 0 && size <= kLargestUnit && llvm::isPowerOf2_64(size) &&
                      llvm::getLoadStoreAlignment(instruction).value() % size == 0;
    found.unit = fits && found.unit != 0 ? std::max(found.unit, size) : 0;
    found.instructions.push_back(instruction);
  }
  for (llvm::Instruction* marker : markers) {
    marker->eraseFromParent();
  }
  return found;
}

/// Sends an access to the place of its lane.
void redirect(llvm::Instruction& access,
              llvm::AllocaInst& memory,
              llvm::Value* lane,
              std::uint64_t unit,
              unsigned width) {
  llvm::IRBuilder<> builder(&access);
  const llvm::DataLayout& layout = access.getDataLayout();
  auto* pointer = const_cast<llvm::Value*>(llvm::getPointerOperand(&access));
  llvm::Value* offset = builder.getInt64(0);
  llvm::Value* address = pointer;
  while (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) {
    offset = builder.CreateAdd(offset, llvm::emitGEPOffset(&builder, layout, step));
    address = step->getPointerOperand();
  }
  // Offset o of lane l lies at (o / unit) * (unit * width) + l * unit + o % unit.
  llvm::Value* inside = builder.CreateAnd(offset, builder.getInt64(unit - 1));
  llvm::Value* row = builder.CreateSub(offset, inside);
  llvm::Value* place = builder.CreateGEP(builder.getInt8Ty(), &memory,
                                         builder.CreateMul(row, builder.getInt64(width)));
  place = builder.CreateGEP(builder.getInt8Ty(), place, inside);
  place = builder.CreateGEP(builder.getInt8Ty(), place,
                            builder.CreateMul(lane, builder.getInt64(unit)));
  access.replaceUsesOfWith(pointer, place);
}

}  // namespace

llvm::SmallVector<llvm::Instruction*, 16> uses_of(llvm::AllocaInst& variable) {
  llvm::SmallVector<llvm::Instruction*, 16> uses;
  llvm::SmallVector<llvm::Instruction*, 16> addresses{&variable};
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    for (llvm::User* user : addresses[i]->users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      (llvm::isa<llvm::GetElementPtrInst>(instruction) ? addresses : uses).push_back(instruction);
    }
  }
  return uses;
}

void widen_private_memory(llvm::Function& function, unsigned width) {
  const llvm::DataLayout& layout = function.getDataLayout();
  std::vector<llvm::AllocaInst*> variables;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      variables.push_back(variable);
    }
  }
  if (variables.empty()) {
    return;
  }
  llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
  llvm::Value* lane =
      builder.CreateZExt(builder.CreateCall(function.getParent()->getOrInsertFunction(
                             kLaneCall, builder.getInt32Ty())),
                         builder.getInt64Ty());
  for (llvm::AllocaInst* variable : variables) {
    const auto size = variable->getAllocationSize(layout);
    if (!size || size->isScalable()) {
      continue;
    }
    const Accesses accesses = find_accesses(*variable, layout);
    const std::uint64_t bytes = llvm::alignTo(size->getFixedValue(), 16);
    llvm::IRBuilder<> top(&function.getEntryBlock(), function.getEntryBlock().begin());
    llvm::AllocaInst* memory =
        top.CreateAlloca(llvm::ArrayType::get(top.getInt8Ty(), bytes * width));
    memory->setAlignment(llvm::Align(64));
    if (accesses.unit == 0) {
      llvm::IRBuilder<> after(variable->getNextNode());
      if (variable->getParent() == &function.getEntryBlock()) {
        after.SetInsertPoint(llvm::cast<llvm::Instruction>(lane)->getNextNode());
      }
      variable->replaceAllUsesWith(
          after.CreateGEP(after.getInt8Ty(), memory, after.CreateMul(lane, after.getInt64(bytes))));
    } else {
      for (llvm::Instruction* access : accesses.instructions) {
        redirect(*access, *memory, lane, accesses.unit, width);
      }
    }
  }
}

}  // namespace pewter::compiler::spmd
