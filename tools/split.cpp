#include "tools/split.h"

#include "tools/failure.h"

namespace pewter::tools {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     std::string_view flag,
                                                     std::string_view form) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    usage_error("{} '{}' is not of the form {}", flag, text, form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace pewter::tools
