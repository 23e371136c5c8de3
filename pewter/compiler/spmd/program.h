#pragma once

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {

/// A thread function turned into programs: one for all lanes, one for a part of them.
struct Programs {
  /// `void (launch, group, first thread, row group)`.
  llvm::Function* full = nullptr;
  /// `void (launch, group, first thread, row group, lane count)`; null when it was not asked for.
  llvm::Function* partial = nullptr;
  Tally tally;
  bool has_barriers = false;
  /// Sums that scalar mode adds up in another order.
  bool has_row_sums = false;
  /// Switches and loops that lanes may run alone.
  unsigned released_switches = 0;
  unsigned released_loops = 0;
};

/// Vectorises a thread function whose thread values are resolved for lanes, and deletes it.
///
/// Fails, with what stood in the way, when there is something in it that has no vector form; the
/// module is of no use then.
Result<Programs> vectorise(llvm::Function& thread,
                           llvm::FunctionAnalysisManager& analyses,
                           Lanes lanes,
                           bool with_partial);

}  // namespace pewter::compiler::spmd
