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

/// Has the kernel made by a thread of its own, for a later find_kernel(). One that does not compile
/// is left to generated_kernel(), which says why.
void request_kernel(const KernelStructure& structure);

/// Notes that an evaluation has made do with another kernel than this one, which has not been made.
/// It is requested when that happens again: most expressions are computed once. False when there is
/// no thread to make it.
bool want_kernel(const KernelStructure& structure);

/// How many kernels evaluations have waited for.
std::size_t waited_kernel_count();

}  // namespace pewter::fusion
