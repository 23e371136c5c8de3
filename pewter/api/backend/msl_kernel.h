#pragma once

#include <pewter/backend_kernel.h>

#include <string>
#include <string_view>

namespace pewter::backend {

/// Compiles the kernel `name` of MSL text. Throws MSLCompilationError for text that does not
/// compile and a kernel that is not in it.
Kernel compile_msl(std::string_view source, const std::string& name);

}  // namespace pewter::backend
