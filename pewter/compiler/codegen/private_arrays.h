#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::codegen {

/// Keeps indices that only the running kernel knows inside the thread's own arrays.
///
/// Arrays get one element more, where an access beyond either end goes: on a GPU such an access
/// does no harm and kernels that the field runs make it, here it would overwrite the stack of the
/// worker. LLVM takes the comparison out again where it can prove that the index is inside.
/// Relies on the optimiser having inlined everything; arrays of arrays are left alone.
void bound_private_arrays(llvm::Function& function);

}  // namespace pewter::compiler::codegen
