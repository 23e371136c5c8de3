#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/kernel.h"
#include "tools/run_request.h"

namespace pewter::tools {

/// What a run leaves behind.
struct RunResult {
  /// One for each --buffer, in their order.
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  MTL::Size grid;
  MTL::Size group;
  /// Device time of each repetition.
  std::vector<double> run_ms;

  std::span<const std::byte> content(std::size_t buffer) const;
};

/// Binds what the request names, checks it against the kernel's parameters, and runs it as often as
/// asked. Buffers keep their content from one repetition to the next. Throws CommandError when
/// something is missing, too small or too large, and when the kernel faults.
RunResult run_kernel(const Kernel& kernel, const RunRequest& request);

}  // namespace pewter::tools
