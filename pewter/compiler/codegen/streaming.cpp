#include "pewter/compiler/codegen/streaming.h"

#include <optional>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include "pewter/base/kernel_abi.h"

namespace pewter::compiler::codegen {
namespace {

constexpr unsigned kStreaming = llvm::LLVMContext::MD_nontemporal;

/// The number of the buffer that an address lies in.
std::optional<std::uint64_t> buffer_of(const llvm::Value* address, const llvm::Function& thread) {
  const auto* binding = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(address, 0));
  if (binding == nullptr) {
    return std::nullopt;
  }
  const llvm::DataLayout& layout = thread.getParent()->getDataLayout();
  llvm::APInt offset(64, 0);
  const llvm::Value* base = binding->getPointerOperand()->stripAndAccumulateConstantOffsets(
      layout, offset, /*AllowNonInbounds=*/true);
  const std::uint64_t index =
      (offset.getZExtValue() - offsetof(abi::Launch, buffers)) / sizeof(abi::Launch::buffers[0]);
  if (base != thread.getArg(0) || index >= abi::kMaxBuffers) {
    return std::nullopt;
  }
  return index;
}

}  // namespace

std::uint32_t find_streamed_buffers(llvm::Function& thread) {
  std::uint32_t buffers = 0;
  for (llvm::Instruction& instruction : llvm::instructions(thread)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store == nullptr || !store->hasMetadata(kStreaming)) {
      continue;
    }
    if (const auto buffer = buffer_of(store->getPointerOperand(), thread)) {
      buffers |= 1U << *buffer;
    } else {
      store->setMetadata(kStreaming, nullptr);
    }
  }
  return buffers;
}

void drop_streaming(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      instruction.setMetadata(kStreaming, nullptr);
    }
  }
}

}  // namespace pewter::compiler::codegen
