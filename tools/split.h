#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pewter::tools {

/// The parts of `text` between separators; always at least one, which may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

/// `NAME=REST` as a pair; throws UsageError when there is no '=' or the name is empty. `flag` and
/// `form` say where and what was expected: "--buffer", "NAME=SOURCE".
std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     std::string_view flag,
                                                     std::string_view form);

}  // namespace pewter::tools
