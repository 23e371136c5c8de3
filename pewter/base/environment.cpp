#include "pewter/base/environment.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "pewter/base/log.h"

namespace pewter::environment {

std::optional<std::string> text(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    return std::nullopt;
  }
  return std::string(value);
}

std::optional<std::uint64_t> number(const char* name) {
  const auto value = text(name);
  if (!value) {
    return std::nullopt;
  }
  std::uint64_t parsed = 0;
  const char* end = value->data() + value->size();
  const auto [stop, code] = std::from_chars(value->data(), end, parsed);
  if (code != std::errc() || stop != end) {
    logging::warning("environment", "{}='{}' is not a whole number and is ignored", name, *value);
    return std::nullopt;
  }
  return parsed;
}

bool flag(const char* name, bool fallback) {
  auto value = text(name);
  if (!value) {
    return fallback;
  }
  std::transform(value->begin(), value->end(), value->begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (*value == "1" || *value == "true" || *value == "yes" || *value == "on") {
    return true;
  }
  if (*value == "0" || *value == "false" || *value == "no" || *value == "off") {
    return false;
  }
  logging::warning("environment", "{}='{}' is neither on nor off and is ignored", name, *value);
  return fallback;
}

}  // namespace pewter::environment
