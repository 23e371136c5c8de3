#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pewter/runtime/kernel_argument.h"
#include "pewter/runtime/shader_library.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {

/// Lengths along 1 to 3 axes, as a caller gave them.
using Extents = std::vector<std::int64_t>;

/// One run of a kernel.
struct Launch {
  /// Argument i is bound to buffer index i.
  std::vector<KernelArgument> arguments;
  Extents threads;
  /// Nothing: chosen by the kernel's limit.
  std::optional<Extents> group_size;
  /// Where the stream's error records are bound.
  std::optional<std::size_t> error_index;
  /// The kernel and its arrays, for the profiler.
  std::string description;
};

/// Launches a kernel on `stream`: checks everything, then encodes, then submits if the device has
/// nothing to do.
///
/// Throws std::runtime_error for wrong numbers of axes and for a buffer that the kernel uses and
/// nothing covers; std::invalid_argument for negative threads, a group size below 1 or above the
/// kernel's limit. Then nothing has been encoded. No threads: nothing runs.
void launch(Stream& stream,
            const std::shared_ptr<const ShaderKernel>& kernel,
            const Launch& launch);

}  // namespace pewter::runtime
