#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::codegen {

/// Rounds integers once when they become bfloat. Processors convert them by way of float, which
/// rounds those beyond 2^24 already, and what looks like the middle then may not have been it.
///
/// Before: sitofp and uitofp of 32 or 64 bits to bfloat. After: an integer that float holds and
/// that lies on the same side of every middle, converted to float and then to bfloat.
void round_integers_once(llvm::Function& function);

}  // namespace pewter::compiler::codegen
