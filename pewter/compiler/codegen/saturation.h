#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::codegen {

/// Gives conversions from floating point to integers a result for every input, as the devices that
/// MSL is made for do: what is out of range becomes the nearest integer of the type, NaN becomes 0.
///
/// Before: fptosi and fptoui, plain or saturating. After: comparisons and plain conversions, whose
/// result counts only where they have one. LLVM's own saturating conversions of vectors go through
/// single elements on x86, so they must not reach the vectoriser.
void saturate_conversions(llvm::Function& function);

}  // namespace pewter::compiler::codegen
