#include "pewter/compiler/codegen/function_pointers.h"

#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace pewter::compiler::codegen {
namespace {

constexpr const char* kLinkedPrefix = "pewter.linked.";
// What the command buffer's error says of a call that leads nowhere, in the form of a failed
// assertion: see metal_assert of the MSL standard library.
constexpr const char* kWrongCall =
    "function pointer: assertion failed: it is null or no function that the pipeline is linked "
    "with";
constexpr std::uint64_t kFaultBits = 0xffff'8000'0000'0000;

using Numbers = std::map<std::uint64_t, llvm::Function*>;

bool is_address(const llvm::Use& use) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call == nullptr || !call->isCallee(&use);
}

// Initialisers of variables are called by nobody who has a pointer.
bool is_initialiser(const llvm::Use& use) {
  const llvm::GlobalVariable* constructors =
      llvm::cast<llvm::Function>(use.get())->getParent()->getNamedGlobal("llvm.global_ctors");
  return constructors != nullptr && constructors->hasInitializer() &&
         llvm::is_contained(constructors->getInitializer()->operands(), use.getUser());
}

/// Numbers the linked functions and those whose address is taken, and replaces the addresses.
Numbers number_functions(llvm::Module& module) {
  Numbers numbers;
  std::uint64_t next = 1;
  for (llvm::Function& function : module) {
    std::uint64_t position = 0;
    llvm::StringRef name = function.getName();
    if (name.consume_front(kLinkedPrefix) && !name.getAsInteger(10, position)) {
      numbers[position] = &function;
      next = std::max(next, position + 1);
    }
  }
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) {
      continue;
    }
    // What is left of annotations.
    function.removeDeadConstantUsers();
    const auto wanted = [&](const llvm::Use& use) {
      return is_address(use) && !is_initialiser(use);
    };
    if (llvm::none_of(function.uses(), wanted)) {
      continue;
    }
    std::uint64_t number = next;
    for (const auto& [position, linked] : numbers) {
      number = linked == &function ? position : number;
    }
    if (number == next) {
      numbers[next++] = &function;
    }
    llvm::Type* integer = llvm::Type::getInt64Ty(module.getContext());
    llvm::Constant* address = llvm::ConstantExpr::getIntToPtr(
        llvm::ConstantInt::get(integer, number), function.getType());
    function.replaceUsesWithIf(address, [&](llvm::Use& use) { return wanted(use); });
  }
  return numbers;
}

void choose_callee(llvm::CallInst& call, const Numbers& numbers) {
  llvm::Module& module = *call.getModule();
  llvm::LLVMContext& context = module.getContext();
  llvm::BasicBlock* before = call.getParent();
  llvm::BasicBlock* after = llvm::SplitBlock(before, &call);
  llvm::Function* function = before->getParent();
  llvm::IRBuilder<> builder(before->getTerminator());
  llvm::Value* number = builder.CreatePtrToInt(call.getCalledOperand(), builder.getInt64Ty());
  llvm::BasicBlock* wrong = llvm::BasicBlock::Create(context, "no_such_function", function, after);
  llvm::SwitchInst* choice = builder.CreateSwitch(number, wrong);
  before->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(wrong);
  llvm::Value* text = builder.CreatePtrToInt(builder.CreateGlobalString(kWrongCall, "wrong_call"),
                                             builder.getInt64Ty());
  builder.CreateStore(builder.getInt8(1),
                      builder.CreateIntToPtr(builder.CreateOr(text, builder.getInt64(kFaultBits)),
                                             builder.getPtrTy()));
  builder.CreateBr(after);

  const bool has_result = !call.getType()->isVoidTy();
  llvm::PHINode* result = nullptr;
  if (has_result) {
    result = llvm::PHINode::Create(call.getType(), 4, "", after->begin());
    result->addIncoming(llvm::Constant::getNullValue(call.getType()), wrong);
  }
  for (const auto& [position, candidate] : numbers) {
    if (candidate->getFunctionType() != call.getFunctionType()) {
      continue;
    }
    llvm::BasicBlock* block = llvm::BasicBlock::Create(context, "call", function, after);
    choice->addCase(builder.getInt64(position), block);
    auto* direct = llvm::cast<llvm::CallInst>(call.clone());
    direct->setCalledFunction(candidate);
    builder.SetInsertPoint(block);
    builder.Insert(direct);
    builder.CreateBr(after);
    if (has_result) {
      result->addIncoming(direct, block);
    }
  }
  if (has_result) {
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
}

}  // namespace

Result<void> link_functions(llvm::Module& module, std::span<const FunctionBody> linked) {
  for (std::size_t position = 0; position < linked.size(); ++position) {
    const FunctionBody& body = linked[position];
    const llvm::StringRef bytes(reinterpret_cast<const char*>(body.bitcode.data()),
                                body.bitcode.size());
    auto parsed =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, body.symbol), module.getContext());
    if (!parsed) {
      return failure(
          fmt::format("linked function '{}': {}", body.symbol, llvm::toString(parsed.takeError())));
    }
    llvm::Function* function = (*parsed)->getFunction(body.symbol);
    if (function == nullptr || function->isDeclaration()) {
      return failure(fmt::format("linked function '{}' has no body", body.symbol));
    }
    const std::string name = kLinkedPrefix + std::to_string(position + 1);
    function->setName(name);
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    (*parsed)->setDataLayout(module.getDataLayout());
    (*parsed)->setTargetTriple(module.getTargetTriple());
    if (llvm::Linker::linkModules(module, std::move(*parsed))) {
      return failure(fmt::format("function '{}' cannot be linked with the kernel", body.symbol));
    }
    llvm::Function* own = module.getFunction(name);
    llvm::Function* declared = module.getFunction(body.symbol);
    if (declared != nullptr && declared->isDeclaration() &&
        declared->getFunctionType() == own->getFunctionType()) {
      declared->replaceAllUsesWith(own);
      declared->eraseFromParent();
    }
  }
  return {};
}

void lower_function_pointers(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && call->isIndirectCall()) {
        calls.push_back(call);
      }
    }
  }
  const Numbers numbers = number_functions(module);
  for (llvm::CallInst* call : calls) {
    choose_callee(*call, numbers);
  }
}

std::vector<std::string> undefined_functions(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function& function : module) {
    // The device's own functions have plain names.
    if (function.isDeclaration() && !function.use_empty() && function.getName().starts_with("_Z")) {
      // Clang puts its calling convention into the name.
      std::string name = llvm::demangle(function.getName().str());
      constexpr std::string_view kConvention = "__regcall3__";
      if (const std::size_t place = name.find(kConvention); place != std::string::npos) {
        name.erase(place, kConvention.size());
      }
      names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace pewter::compiler::codegen
