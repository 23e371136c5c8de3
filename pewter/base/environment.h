#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// The only place that reads environment variables. Each one is described in docs/environment.md.
namespace pewter::environment {

/// The variable's text; nothing when it is unset or empty.
std::optional<std::string> text(const char* name);

/// The variable as a whole number; nothing when it is unset, and a logged warning when it is not a
/// number.
std::optional<std::uint64_t> number(const char* name);

/// True for 1, true, yes, on; false for 0, false, no, off; `fallback` otherwise.
bool flag(const char* name, bool fallback);

}  // namespace pewter::environment
