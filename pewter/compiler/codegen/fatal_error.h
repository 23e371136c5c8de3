#pragma once

#include <functional>

#include "pewter/base/result.h"

namespace pewter::compiler::codegen {

/// Runs `work` and gives an error when LLVM declares it cannot go on, where LLVM itself would end
/// the process.
///
/// What `work` held at that moment is leaked, so its results must be thrown away.
Result<void> survive_fatal_errors(const std::function<void()>& work);

}  // namespace pewter::compiler::codegen
