#include "pewter/compiler/codegen/atomic_use.h"

#include <optional>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::codegen {
namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

/// The operation, where any order of the same ones leaves the same in memory; a difference counts
/// as the sum that it is.
std::optional<Operation> any_order(const llvm::Instruction& instruction) {
  const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  if (update == nullptr || !update->use_empty()) {
    return std::nullopt;
  }
  switch (update->getOperation()) {
    case Operation::Add:
    case Operation::Sub:
      return Operation::Add;
    case Operation::And:
    case Operation::Or:
    case Operation::Xor:
    case Operation::Max:
    case Operation::Min:
    case Operation::UMax:
    case Operation::UMin:
      return update->getOperation();
    default:
      return std::nullopt;
  }
}

}  // namespace

AtomicUse find_atomic_use(const llvm::Module& module) {
  AtomicUse use;
  std::optional<Operation> only;
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.isAtomic()) {
        continue;
      }
      const std::optional<Operation> operation = any_order(instruction);
      use.shows_order |= !operation || (use.any && only != operation);
      only = operation;
      use.any = true;
    }
  }
  return use;
}

}  // namespace pewter::compiler::codegen
