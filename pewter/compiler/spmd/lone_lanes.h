#pragma once

#include <vector>

#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/versioning.h"

namespace pewter::compiler::spmd {

/// Lets lanes that part in a switch with loops of their own run alone: where less than a quarter of
/// them go the way of the first one, each runs the whole switch as a function for one thread.
/// Returns how many switches it did so for.
unsigned release_parting_lanes(llvm::Function& function, unsigned width);

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
