#pragma once

#include <string>

#include "pewter/base/result.h"
#include "pewter/compiler/backend.h"

namespace pewter::compiler {

/// Where the back end and its precompiled standard library are.
struct BackendFiles {
  std::string library;
  std::string prelude;
};

/// Looks beside this library, in `lib` beside its folder, or where `PEWTER_COMPILER` says.
Result<BackendFiles> find_backend();

/// Opens the back end at the first call. Safe to call from any thread.
Result<Backend*> load_backend();

/// Changes whenever the back end or the standard library does. Costs two stat calls, once.
const std::string& backend_identity();

}  // namespace pewter::compiler
