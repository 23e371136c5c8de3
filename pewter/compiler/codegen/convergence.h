#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::codegen {

/// What threads of a kernel do together.
struct Convergence {
  bool barriers = false;
  bool simdgroup = false;
};

/// Finds barriers and simdgroup operations.
Convergence find_convergence(const llvm::Module& module);

/// Numbers the simdgroup operations of a function so that threads run one at a time agree on who is
/// active where.
///
/// The executor lets the threads that wait at the lowest number go on first. Numbers follow control
/// flow, a loop's body before what comes behind the loop, and every back edge of a loop with
/// simdgroup operations is a meeting point: together that is lock-step execution under masks. Runs
/// last, because optimisation moves and copies operations.
void number_convergence_sites(llvm::Function& function);

}  // namespace pewter::compiler::codegen
