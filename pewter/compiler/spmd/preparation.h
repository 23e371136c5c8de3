#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

#include "pewter/base/result.h"

namespace pewter::compiler::spmd {

/// Takes a thread function apart into operations on single values: vectors to their components,
/// copies of memory to loads and stores.
void split_values(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Leaves branches only, and one return.
void lower_switches(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Gives each loop one entry and one way back, and closes it: values leave through phis.
void simplify_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Gives the function the control flow that the emitter expects: one exit, reducible, loops
/// simplified and closed, no critical edges.
void structure_control_flow(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace pewter::compiler::spmd
