#pragma once

#include "llvm/IR/Module.h"

namespace pewter::compiler::spmd {

/// Replaces gathers and scatters by loads and stores of single lanes, which are faster than the
/// processor's own, and masked accesses whose lanes are known by narrower ones. Runs after
/// optimisation, for which one instruction is easier than eight.
void lower_gathers(llvm::Module& module);

}  // namespace pewter::compiler::spmd
