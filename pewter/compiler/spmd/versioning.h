#pragma once

#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::spmd {

/// Copies what follows a divergent early return, for programs in which no lane takes it: the copy
/// runs without masks. Expects a function that is not yet structured.
void version_early_returns(llvm::Function& function, unsigned width);

/// A loop and its copy, by their headers.
struct VersionedLoop {
  llvm::BasicBlock* full;
  llvm::BasicBlock* masked;
  /// Whether so few lanes enter the copy, at most as many as its operand says, that they take the
  /// masked loop from the start.
  llvm::CallInst* few;
};

/// Copies small loops that lanes leave one by one: as long as every lane goes on, the copy runs
/// without masks. Expects simplified loops in closed form.
std::vector<VersionedLoop> version_loops(llvm::Function& function, unsigned width);

}  // namespace pewter::compiler::spmd
