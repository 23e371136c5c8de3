#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pewter::driver {

/// A message as C's printf would print it, its arguments in the words that a kernel has written:
/// see abi::LogRecord. Vectors are printed by `%v4f` and its like, or by what their elements fit.
///
/// An argument that is missing or does not fit prints as `<?>`.
std::string format_message(std::string_view format, std::span<const std::uint64_t> words);

}  // namespace pewter::driver
