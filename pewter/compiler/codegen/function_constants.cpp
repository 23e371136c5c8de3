#include "pewter/compiler/codegen/function_constants.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::codegen {
namespace {

constexpr const char* kDefinednessCall = "__pewter_is_function_constant_defined";

}  // namespace

void bind_constants(llvm::Module& module, const KernelPlan& plan) {
  for (const PlannedConstant& constant : plan.constants) {
    llvm::GlobalVariable* variable = module.getNamedGlobal(constant.symbol);
    if (variable == nullptr || !constant.value) {
      continue;
    }
    const auto* bytes = reinterpret_cast<const char*>(constant.value->data());
    llvm::Constant* data = llvm::ConstantDataArray::getString(
        module.getContext(), llvm::StringRef(bytes, constant.value->size()), /*AddNull=*/false);
    // The name stays, so that definedness calls still find it.
    auto* bound = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                           llvm::GlobalValue::InternalLinkage, data);
    bound->setAlignment(variable->getAlign());
    bound->takeName(variable);
    variable->replaceAllUsesWith(bound);
    variable->eraseFromParent();
  }
}

void answer_definedness(llvm::Module& module, const KernelPlan& plan) {
  llvm::Function* question = module.getFunction(kDefinednessCall);
  if (question == nullptr) {
    return;
  }
  for (llvm::User* user : llvm::make_early_inc_range(question->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call == nullptr) {
      continue;
    }
    const llvm::Value* asked = call->getArgOperand(0)->stripPointerCasts();
    for (const PlannedConstant& constant : plan.constants) {
      if (asked->getName() == constant.symbol) {
        call->replaceAllUsesWith(
            llvm::ConstantInt::get(call->getType(), constant.value.has_value() ? 1 : 0));
        call->eraseFromParent();
        break;
      }
    }
  }
}

std::vector<std::string> undefined_constants(llvm::Module& module, const KernelPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedConstant& constant : plan.constants) {
    llvm::GlobalVariable* variable = module.getNamedGlobal(constant.symbol);
    if (variable != nullptr && variable->isDeclaration() && !variable->use_empty()) {
      names.push_back(constant.name);
    }
  }
  return names;
}

}  // namespace pewter::compiler::codegen
