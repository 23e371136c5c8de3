#include "pewter/compiler/codegen/threadgroup_memory.h"

#include <map>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"

namespace pewter::compiler::codegen {

std::uint32_t lower_threadgroup_variables(llvm::Module& module, llvm::StringRef section) {
  std::vector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& variable : module.globals()) {
    variable.removeDeadConstantUsers();
    if (variable.getSection() == section && !variable.use_empty()) {
      variables.push_back(&variable);
    }
  }
  if (variables.empty()) {
    return 0;
  }
  llvm::LLVMContext& context = module.getContext();
  llvm::FunctionCallee base =
      module.getOrInsertFunction(kThreadgroupBase, llvm::PointerType::get(context, 0));
  auto* base_function = llvm::cast<llvm::Function>(base.getCallee());
  base_function->setDoesNotAccessMemory();
  base_function->setDoesNotThrow();
  base_function->addFnAttr(llvm::Attribute::WillReturn);

  const llvm::DataLayout& layout = module.getDataLayout();
  std::uint64_t offset = 0;
  for (llvm::GlobalVariable* variable : variables) {
    const llvm::Align alignment = std::max(layout.getABITypeAlign(variable->getValueType()),
                                           variable->getAlign().valueOrOne());
    offset = llvm::alignTo(offset, alignment);
    llvm::convertUsersOfConstantsToInstructions({variable});
    std::map<llvm::Function*, llvm::Value*> addresses;
    for (llvm::Use& use : llvm::make_early_inc_range(variable->uses())) {
      auto* instruction = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (instruction == nullptr) {
        continue;
      }
      llvm::Value*& address = addresses[instruction->getFunction()];
      if (address == nullptr) {
        llvm::BasicBlock& entry = instruction->getFunction()->getEntryBlock();
        llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
        llvm::Value* start = builder.CreateCall(base);
        address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), start, offset);
      }
      use.set(address);
    }
    offset += layout.getTypeAllocSize(variable->getValueType());
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(llvm::alignTo(offset, 16), 1U << 30));
}

}  // namespace pewter::compiler::codegen
