#pragma once

#include <string>
#include <string_view>

namespace pewter::fusion {

/// The paragraphs of kernels/elementwise.metal that `kernel` needs, directly or through others:
/// parsing all of them would take longer than compiling most kernels. A paragraph is what stands
/// between blank lines.
std::string helpers_for(std::string_view kernel);

}  // namespace pewter::fusion
