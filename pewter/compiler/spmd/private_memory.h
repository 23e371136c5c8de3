#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Gives each lane its own copy of the function's variables in memory.
///
/// Copies lie lane by lane within each unit of a variable, so that lanes which access the same
/// place of theirs touch consecutive memory; variables whose address goes elsewhere are kept whole
/// for each lane.
void widen_private_memory(llvm::Function& function, unsigned width);

}  // namespace pewter::compiler::spmd
