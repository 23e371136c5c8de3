#include "pewter/compiler/spmd/device_call.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

namespace pewter::compiler::spmd {

bool is_threadgroup_memory(const llvm::Value* pointer) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(pointer, 0));
  return load != nullptr && load->hasMetadata(kThreadgroupMemory);
}

bool is_private_memory(const llvm::Value* pointer) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0));
}

DeviceCall device_call(const llvm::Value& value) {
  using Kind = DeviceCall::Kind;
  DeviceCall result;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr) {
    return result;
  }
  llvm::StringRef name = callee->getName();
  if (name == kLaneCall) {
    result.kind = Kind::Lane;
  } else if (name == kAllCall) {
    result.kind = Kind::AllLanes;
  } else if (name == kFewCall) {
    result.kind = Kind::FewLanes;
  } else if (name == kWatchCall) {
    result.kind = Kind::Watch;
  } else if (name == kWorkCall) {
    result.kind = Kind::Work;
  } else if (name == kIdleCall) {
    result.kind = Kind::Idle;
  } else if (name.starts_with(kApartPrefix)) {
    result.kind = Kind::LanesApart;
  } else if (name.starts_with(kSamePrefix)) {
    result.kind = Kind::Same;
  } else if (name.starts_with(kAlonePrefix)) {
    result.kind = Kind::Alone;
  } else if (name.starts_with(kThreadValuePrefix)) {
    result.kind = Kind::ThreadValue;
  }
  if (!name.consume_front("air.")) {
    return result;
  }
  if (name == "wg.barrier") {
    result.kind = Kind::GroupBarrier;
    return result;
  }
  if (name == "simdgroup.barrier") {
    result.kind = Kind::SimdgroupBarrier;
    return result;
  }
  if (name.starts_with("simdgroup_matrix_8x8_multiply_accumulate")) {
    result.kind = Kind::MatrixMultiply;
    return result;
  }
  if (name.consume_front("quad_")) {
    result.group = 4;
  } else if (!name.consume_front("simd_")) {
    return result;
  }
  const auto [operation, type] = name.split('.');
  result.operation = operation;
  result.is_signed = type.starts_with("s.");
  result.kind = llvm::StringSwitch<Kind>(operation)
                    .Cases("sum", "product", "min", "max", "and", "or", "xor", Kind::Reduce)
                    .Case("broadcast_first", Kind::BroadcastFirst)
                    .Case("ballot", Kind::Ballot)
                    .Case("active_threads_mask", Kind::ActiveMask)
                    .Case("all", Kind::All)
                    .Case("any", Kind::Any)
                    .Case("is_first", Kind::IsFirst)
                    .Case("broadcast", Kind::Shuffle)
                    .StartsWith("prefix_", Kind::Scan)
                    .StartsWith("shuffle_and_fill", Kind::ShuffleAndFill)
                    .StartsWith("shuffle", Kind::Shuffle)
                    .Default(Kind::None);
  return result;
}

llvm::CallInst* create_marker(llvm::IRBuilder<>& builder,
                              llvm::StringRef name,
                              llvm::Type* type,
                              llvm::ArrayRef<llvm::Value*> operands) {
  llvm::SmallVector<llvm::Type*, 2> parameters;
  for (const llvm::Value* operand : operands) {
    parameters.push_back(operand->getType());
  }
  llvm::FunctionCallee callee = builder.GetInsertBlock()->getModule()->getOrInsertFunction(
      name, llvm::FunctionType::get(type, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setConvergent();
  return builder.CreateCall(callee, operands);
}

llvm::CallInst* create_noting_marker(llvm::IRBuilder<>& builder,
                                     llvm::StringRef name,
                                     llvm::Type* type,
                                     llvm::ArrayRef<llvm::Value*> operands) {
  llvm::CallInst* call = create_marker(builder, name, type, operands);
  call->getCalledFunction()->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  return call;
}

llvm::CallInst* create_few(llvm::IRBuilder<>& builder, unsigned few) {
  return create_marker(builder, kFewCall, builder.getInt1Ty(), {builder.getInt32(few)});
}

bool multiplies_matrices(llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return device_call(instruction).kind == DeviceCall::Kind::MatrixMultiply;
  });
}

}  // namespace pewter::compiler::spmd
