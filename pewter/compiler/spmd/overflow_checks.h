#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Turns arithmetic that tells whether it overflowed, as LLVM makes it of the checks that people
/// write, into plain arithmetic and a comparison.
///
/// Before: llvm.umul.with.overflow and its kin, of numbers or of vectors. After: none of them.
void expand_overflow_checks(llvm::Function& function);

}  // namespace pewter::compiler::spmd
