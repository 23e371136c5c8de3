#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pewter/runtime/embedded_file.h"
#include "pewter/runtime/shader_library.h"

namespace pewter::ops {

using EmbeddedFile = runtime::EmbeddedFile;

/// The files of array/kernels by name; ends with a null name. Written by cmake/embed_files.py.
extern const EmbeddedFile kKernelFiles[];

/// The text of one of them.
std::string_view kernel_source(std::string_view file);

/// A kernel of one of them; the file is compiled the first time.
std::shared_ptr<const runtime::ShaderKernel> shipped_kernel(const char* file,
                                                            const std::string& name);

}  // namespace pewter::ops
