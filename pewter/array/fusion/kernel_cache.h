#pragma once

#include <memory>

#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/runtime/shader_library.h"

namespace pewter::fusion {

/// The kernel for a structure; made the first time. Machine code is also kept on disk, like that of
/// every kernel. Not safe to use from several threads at once: evaluation holds its lock.
const std::shared_ptr<const runtime::ShaderKernel>& generated_kernel(
    const KernelStructure& structure);

/// How many kernels have been made.
std::size_t generated_kernel_count();

}  // namespace pewter::fusion
