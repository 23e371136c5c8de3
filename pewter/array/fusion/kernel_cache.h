#pragma once

#include <memory>

#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/runtime/shader_library.h"

namespace pewter::fusion {

// Kernels by structure. Machine code is also kept on disk, like that of every kernel. Not safe to
// use from several threads at once: evaluation holds its lock.

/// The kernel for a structure; made the first time. Throws what compiling throws.
const runtime::ShaderKernel& generated_kernel(const KernelStructure& structure);

/// The kernel, if it has been made; null otherwise.
const runtime::ShaderKernel* find_kernel(const KernelStructure& structure);

/// Whether an evaluation needs a kernel, or later ones may.
enum class Purpose : std::uint8_t { Evaluation, Later };

/// Has the kernel made by a thread of its own, for a later find_kernel(). One that does not compile
/// is left to generated_kernel(), which says why.
void request_kernel(const KernelStructure& structure, Purpose purpose);

/// How many kernels evaluations have asked for.
std::size_t generated_kernel_count();

}  // namespace pewter::fusion
