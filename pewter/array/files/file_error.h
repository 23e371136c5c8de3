#pragma once

#include <fmt/core.h>
#include <pewter/errors.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pewter::files {

template <typename... Arguments>
[[noreturn]] void file_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw FileError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// A text from a file for the message of an error, which may end up on a terminal: a beginning of
/// it, and codes in place of what does not print.
inline std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 100;
  std::string shown;
  for (const char letter : text.substr(0, kMost)) {
    if (letter >= ' ' && letter <= '~') {
      shown += letter;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    }
  }
  return text.size() > kMost ? shown + "..." : shown;
}

}  // namespace pewter::files
