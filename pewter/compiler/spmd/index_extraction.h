#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Takes the indices of single lanes out of vectors by words of 64 bits and shifts, where each lane
/// accesses memory on its own.
///
/// An instruction that takes out one lane is slow, and the address that comes of it late: a
/// processor that has guessed by then that a load does not depend on the stores before it starts
/// over, each time (AMD Zen 4 counts bytes thirty times slower). Runs last, because LLVM's
/// simplifications would undo it.
void extract_indices_by_words(llvm::Function& function);

}  // namespace pewter::compiler::spmd
