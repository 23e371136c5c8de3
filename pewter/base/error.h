#pragma once

#include <string>
#include <utility>

namespace pewter {

/// What went wrong, in one line of lower case that names the value and the limit.
struct Error {
  std::string message;
};

/// Builds the error that `Result` carries; `failure("no kernel named 'x'")`.
inline Error failure(std::string message) {
  return Error{std::move(message)};
}

}  // namespace pewter
