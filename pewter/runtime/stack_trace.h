#pragma once

#include <string>
#include <vector>

namespace pewter::runtime {

/// Return addresses from the caller of the caller outward.
std::vector<void*> capture_stack();

/// One line for each address: function + offset, and the file that it is in.
std::vector<std::string> describe_stack(const std::vector<void*>& stack);

}  // namespace pewter::runtime
