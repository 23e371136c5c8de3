#pragma once

#include <vector>

#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/versioning.h"

namespace pewter::compiler::spmd {

/// Lets the last lanes of a loop run alone: where no more lanes of a program are in a loop than
/// about what one iteration of all lanes costs more than one of a single thread, each of them runs
/// the rest of the loop as a function for one thread. Lanes that part, or one that goes on long
/// after the others have left, then cost what they would cost without vectors.
///
/// Expects structured control flow and leaves it unstructured. Returns how many loops may end so.
unsigned release_lone_lanes(llvm::Function& function,
                            Lanes lanes,
                            llvm::ArrayRef<VersionedLoop> versions);

}  // namespace pewter::compiler::spmd
