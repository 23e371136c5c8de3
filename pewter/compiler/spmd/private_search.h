#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace pewter::compiler::spmd {

/// The branch of a search that is most of what a function does, and that lanes would do one by one
/// in any case; null when there is none.
///
/// Such a search works on private memory alone, keeps there how far it is, goes on for nobody knows
/// how long, and takes its way by what it finds there. Its threads do something else in every step,
/// and what one of them would have at hand is gathered and scattered for all.
const llvm::Instruction* find_private_search(const llvm::LoopInfo& loops,
                                             llvm::ScalarEvolution& evolution);

}  // namespace pewter::compiler::spmd
