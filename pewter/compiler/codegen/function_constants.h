#pragma once

#include <string>
#include <vector>

#include "llvm/IR/Module.h"

#include "pewter/compiler/codegen/kernel_plan.h"

namespace pewter::compiler::codegen {

/// Gives function constants their values and answers `is_function_constant_defined`.
///
/// Runs before optimisation, so that branches on constants fold. Constants without a value stay
/// undefined symbols: see undefined_constants.
void bind_constants(llvm::Module& module, const KernelPlan& plan);

/// Answers `is_function_constant_defined` calls whose argument is known. Runs after the first
/// inlining.
void answer_definedness(llvm::Module& module, const KernelPlan& plan);

/// Names of constants that have no value and are still used once everything has folded.
std::vector<std::string> undefined_constants(llvm::Module& module, const KernelPlan& plan);

}  // namespace pewter::compiler::codegen
