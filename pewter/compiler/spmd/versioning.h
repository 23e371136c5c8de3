#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Copies what follows a divergent early return, for programs in which no lane takes it: the copy
/// runs without masks. Expects a function that is not yet structured.
void version_early_returns(llvm::Function& function, unsigned width);

/// Copies small loops that lanes leave one by one: as long as every lane goes on, the copy runs
/// without masks. Expects simplified loops in closed form.
void version_loops(llvm::Function& function, unsigned width);

}  // namespace pewter::compiler::spmd
