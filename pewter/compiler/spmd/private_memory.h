#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::spmd {

/// What uses a variable in memory, by whatever offset from its address.
llvm::SmallVector<llvm::Instruction*, 16> uses_of(llvm::AllocaInst& variable);

/// Gives each lane its own copy of the function's variables in memory.
///
/// Copies lie lane by lane within each unit of a variable, so that lanes which access the same
/// place of theirs touch consecutive memory; variables whose address goes elsewhere are kept whole
/// for each lane.
void widen_private_memory(llvm::Function& function, unsigned width);

}  // namespace pewter::compiler::spmd
