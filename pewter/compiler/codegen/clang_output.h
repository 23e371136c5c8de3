#pragma once

#include "llvm/IR/Module.h"

#include "pewter/compiler/codegen/kernel_plan.h"

namespace pewter::compiler::codegen {

/// Takes out of Clang's IR what only served the front end.
///
/// Runs first. Afterwards: the C calling convention everywhere, no annotations, no casts between
/// half and bfloat of equal width, conversions to integers that saturate, vectors in memory
/// aligned as their elements, no calls through pointers, every function but built-ins internal and
/// of the plan's CPU, and inlined unless it is recursive.
void normalise(llvm::Module& module, const KernelPlan& plan);

}  // namespace pewter::compiler::codegen
