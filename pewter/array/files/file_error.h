#pragma once

#include <fmt/core.h>
#include <pewter/errors.h>

#include <utility>

namespace pewter::files {

template <typename... Arguments>
[[noreturn]] void file_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw FileError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace pewter::files
