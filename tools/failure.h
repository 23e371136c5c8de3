#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace pewter::tools {

/// The command line itself is wrong; the program ends with code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was asked for cannot be done; the program ends with code 1.
class CommandError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A source file that does not compile: the compiler's own lines, each with file, line and column.
class SourceError : public CommandError {
 public:
  using CommandError::CommandError;
};

template <typename... Arguments>
[[noreturn]] void usage_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw UsageError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename... Arguments>
[[noreturn]] void command_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw CommandError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace pewter::tools
