#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// Writes an image of `width` x `height` pixels, four bytes each (red, green, blue, alpha), rows
/// from the top.
///
/// Throws std::runtime_error when the file cannot be written.
void write_png(const std::string& path,
               const std::vector<std::uint8_t>& pixels,
               std::uint32_t width,
               std::uint32_t height);

}  // namespace examples
