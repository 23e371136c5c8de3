#include "pewter/array/files/checked_shape.h"

#include <algorithm>
#include <limits>

#include "pewter/array/files/file_error.h"

namespace pewter::files {

Shape checked_shape(const std::vector<std::uint64_t>& lengths, const std::string& path) {
  if (lengths.size() > kMaxDimensions) {
    file_error("{}: more than {} dimensions", path, kMaxDimensions);
  }
  // Strides are products of lengths, so they must fit even when another length is 0.
  std::uint64_t product = 1;
  Shape shape;
  for (const std::uint64_t length : lengths) {
    if (__builtin_mul_overflow(product, std::max<std::uint64_t>(length, 1), &product) ||
        product > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 16) {
      file_error("{}: a shape with more elements than can be counted", path);
    }
    shape.push_back(static_cast<std::int64_t>(length));
  }
  return shape;
}

void expect_readable(const Shape& shape, const std::string& path) {
  if (shape.size() > kMaxDimensions) {
    file_error("{}: an array of {} dimensions, and files have at most {}", path, shape.size(),
               kMaxDimensions);
  }
}

}  // namespace pewter::files
