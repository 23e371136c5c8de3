#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pewter::tools {

/// The candidate that `name` is most likely a misspelling of; empty when none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or, when nothing is close, the whole list: "; there are 'a', 'b'" (at most
/// a dozen).
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace pewter::tools
