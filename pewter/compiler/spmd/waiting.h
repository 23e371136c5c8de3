#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// The atomic operation by which a loop waits for a lock that whoever holds it releases behind the
/// loop, where lanes of a program would wait for those that are still in it; null when there is
/// none. A loop that tries again to update what it has seen waits for nobody, and neither does one
/// that a single lane of a program runs.
///
/// Expects thread values computed from the lane.
const llvm::Instruction* find_lock_released_behind_loop(llvm::Function& thread, unsigned width);

/// Whether a loop does nothing else than to look at a place until another thread, as far as can be
/// seen one of the same group, has changed it. Programs that hold several simdgroups would have
/// them wait for each other.
///
/// Expects thread values that are still calls.
bool waits_for_group(llvm::Function& thread);

}  // namespace pewter::compiler::spmd
