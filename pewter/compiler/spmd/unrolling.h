#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace pewter::compiler::spmd {

/// Unrolls short loops in which each thread walks through neighbouring elements of its own, so that
/// those can be loaded together.
void unroll_walks(llvm::Function& function,
                  llvm::FunctionAnalysisManager& analyses,
                  unsigned width);

/// Marks loops over private arrays for unrolling, so that the arrays become values.
void mark_private_walks(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace pewter::compiler::spmd
