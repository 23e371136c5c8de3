#include "pewter/compiler/spmd/group_memory.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"

#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/gather_lowering.h"

namespace pewter::compiler::spmd {
namespace {

/// Whether what follows from `pointer`, which is `offset` bytes into the memory, is nothing but
/// loads and stores of known places within it.
bool has_known_places(llvm::Value& pointer, std::int64_t offset, std::int64_t bytes) {
  for (llvm::User* user : pointer.users()) {
    if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
      if (address->use_empty()) {
        continue;
      }
      const llvm::DataLayout& layout = address->getDataLayout();
      llvm::APInt step(layout.getIndexTypeSizeInBits(pointer.getType()), 0);
      if (address->getType()->isVectorTy() || !address->accumulateConstantOffset(layout, step) ||
          !has_known_places(*address, offset + step.getSExtValue(), bytes)) {
        return false;
      }
      continue;
    }
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    const bool is_access =
        (load != nullptr && load->isSimple()) ||
        (store != nullptr && store->isSimple() && store->getPointerOperand() == &pointer &&
         store->getValueOperand() != &pointer);
    if (!is_access) {
      return false;
    }
    auto* access = llvm::cast<llvm::Instruction>(user);
    const auto size = static_cast<std::int64_t>(
        access->getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(access)));
    if (offset < 0 || offset + size > bytes) {
      return false;
    }
  }
  return true;
}

}  // namespace

void keep_group_memory(llvm::Function& entry,
                       std::uint32_t bytes,
                       llvm::FunctionAnalysisManager& analyses) {
  std::vector<llvm::LoadInst*> bases;
  for (llvm::Instruction& instruction : llvm::instructions(entry)) {
    if (instruction.hasMetadata(kThreadgroupMemory)) {
      bases.push_back(llvm::cast<llvm::LoadInst>(&instruction));
    }
  }
  if (bases.size() != 1) {
    return;
  }
  narrow_known_accesses(entry);
  llvm::LoadInst& base = *bases.front();
  if (!has_known_places(base, 0, bytes)) {
    return;
  }
  llvm::IRBuilder<> top(&entry.getEntryBlock(), entry.getEntryBlock().begin());
  const llvm::Align alignment(64);
  llvm::AllocaInst* memory = top.CreateAlloca(llvm::ArrayType::get(top.getInt8Ty(), bytes));
  memory->setAlignment(alignment);
  llvm::IRBuilder<> builder(&base);
  builder.CreateMemSet(memory, builder.getInt8(0), bytes, alignment);
  base.replaceAllUsesWith(memory);
  base.eraseFromParent();
  analyses.invalidate(entry, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager promote;
  promote.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  promote.addPass(llvm::EarlyCSEPass());
  promote.run(entry, analyses);
}

}  // namespace pewter::compiler::spmd
