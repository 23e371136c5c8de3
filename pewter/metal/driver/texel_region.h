#pragma once

#include <cstddef>
#include <cstdint>

namespace pewter::driver {

/// A box of texels of one level and slice: bytes, and how far rows and images are apart.
struct TexelRegion {
  std::byte* first = nullptr;
  std::uint64_t row_bytes = 0;
  std::uint64_t row_stride = 0;
  std::uint64_t row_count = 0;
  std::uint64_t image_stride = 0;
  std::uint64_t image_count = 0;
};

}  // namespace pewter::driver
