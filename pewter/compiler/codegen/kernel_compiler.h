#pragma once

#include "llvm/IR/Module.h"

#include "pewter/base/result.h"
#include "pewter/compiler/codegen/kernel_plan.h"
#include "pewter/compiler/compiler.h"

namespace pewter::compiler::codegen {

/// IR of one kernel, as Clang gave it, to machine code that runs one thread at a time.
///
/// The order of the steps is the order of the calls in the source; each step's header says what it
/// relies on.
Result<KernelCode> compile_kernel(llvm::Module& module, const KernelPlan& plan);

/// IR of one visible function, as Clang gave it, to bitcode in which the function constants have
/// their values. Fails when a constant that it needs has none.
Result<std::vector<std::byte>> write_function(llvm::Module& module, const KernelPlan& plan);

}  // namespace pewter::compiler::codegen
