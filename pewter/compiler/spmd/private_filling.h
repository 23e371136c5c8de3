#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Function.h"

#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {

/// An access of a loop that is most of what a function does, and that does little but load from and
/// store to private memory, as often as is known before it begins, at places that are each thread's
/// own; null when there is none.
///
/// A sieve, or a table of how often something was seen. Lanes make such accesses one by one, which
/// is what threads do alone, without masks and without waiting for the one that goes on for
/// longest.
const llvm::Instruction* find_private_filling(llvm::Function& thread,
                                              const llvm::LoopInfo& loops,
                                              llvm::ScalarEvolution& evolution,
                                              Lanes lanes);

}  // namespace pewter::compiler::spmd
