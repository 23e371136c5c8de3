#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include "pewter/base/result.h"
#include "pewter/compiler/codegen/kernel_plan.h"

namespace pewter::compiler::codegen {

/// The code generator for this machine's kind of processor.
Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const KernelPlan& plan);

/// A relocatable object and the most stack that one of its functions takes.
struct ObjectCode {
  std::vector<std::byte> bytes;
  std::uint32_t stack_bytes = 0;
};

/// Generates machine code for a finished module.
Result<ObjectCode> emit_object(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace pewter::compiler::codegen
