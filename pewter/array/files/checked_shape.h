#pragma once

#include <pewter/array.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pewter::files {

/// A shape as arrays have it. Throws FileError, naming `path`, when it could not be
/// counted or has more axes than NumPy knows.
Shape checked_shape(const std::vector<std::uint64_t>& lengths, const std::string& path);

}  // namespace pewter::files
