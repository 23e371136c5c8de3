#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Replaces vectors of half and of bfloat by vectors of 16-bit integers with the same bits, and
/// their arithmetic by that of floats, which is rounded.
///
/// LLVM 19 takes a vector of bfloat apart at every instruction, be it a sum, a choice between two
/// or a store, rounds the elements by a call for each, and puts it together again; one of half at
/// sums. Runs after optimisation, which knows more of floats than of their bits, and after gathers
/// have become loads of single lanes.
void replace_half_vectors(llvm::Function& function);

}  // namespace pewter::compiler::spmd
