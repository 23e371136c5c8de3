#pragma once

#include "llvm/IR/Module.h"

namespace pewter::compiler::spmd {

/// Replaces masked accesses whose lanes are known, and lie beside each other, by those of the
/// active lanes alone.
void narrow_known_accesses(llvm::Function& function);

/// Replaces gathers and scatters by loads and stores of single lanes, which are faster than the
/// processor's own, and narrows the other masked accesses. Runs after optimisation, for which one
/// instruction is easier than eight.
void lower_gathers(llvm::Module& module);

}  // namespace pewter::compiler::spmd
