#pragma once

#include "pewter/compiler/compiler.h"

namespace pewter::compiler {

/// Fills in the mode and the lanes that a request leaves open: from the library's own macros
/// PEWTER_MODE and PEWTER_LANES, then from the environment. Drops what makes no difference, so that
/// equal code has one key.
Result<void, CompileFailure> settle_mode(const LibraryOptions& options, KernelRequest& request);

/// Whether nothing of that kind is asked for anywhere.
bool leaves_mode_open(const LibraryOptions& options, const KernelRequest& request);

}  // namespace pewter::compiler
