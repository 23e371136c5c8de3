#pragma once

#include <pewter/array.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pewter::files {

/// As many as NumPy knows. Much about arrays, such as printing them, goes from axis to axis: a file
/// must not say how deep.
inline constexpr std::size_t kMaxDimensions = 32;

/// A shape as arrays have it. Throws FileError, naming `path`, when it could not be
/// counted or has more axes than NumPy knows.
Shape checked_shape(const std::vector<std::uint64_t>& lengths, const std::string& path);

/// Throws FileError, naming `path`, for an array that could not be read again.
void expect_readable(const Shape& shape, const std::string& path);

}  // namespace pewter::files
