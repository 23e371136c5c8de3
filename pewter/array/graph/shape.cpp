#include "pewter/array/graph/shape.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <limits>
#include <stdexcept>

namespace pewter::graph {

std::size_t element_count(const Shape& shape, std::size_t item_bytes) {
  constexpr auto kMaxBytes = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  bool is_empty = false;
  for (const std::int64_t length : shape) {
    if (length < 0) {
      throw std::invalid_argument(
          fmt::format("[array] negative length {} in the shape {}", length, to_text(shape)));
    }
    is_empty = is_empty || length == 0;
  }
  if (is_empty) {
    return 0;
  }

  std::size_t count = 1;
  for (const std::int64_t length : shape) {
    if (static_cast<std::size_t>(length) > kMaxBytes / item_bytes / count) {
      throw std::invalid_argument(
          fmt::format("[array] the shape {} has more than {} bytes", to_text(shape), kMaxBytes));
    }
    count *= static_cast<std::size_t>(length);
  }
  return count;
}

Strides row_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis] > 0 ? shape[axis] : 1;
  }
  return strides;
}

bool is_row_contiguous(const Shape& shape, const Strides& strides) {
  const Strides expected = row_strides(shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > 1 && strides[axis] != expected[axis]) {
      return false;
    }
  }
  return true;
}

void for_each_position(const Shape& shape,
                       const Strides& strides,
                       const std::function<void(std::int64_t)>& visit) {
  for (const std::int64_t length : shape) {
    if (length == 0) {
      return;
    }
  }

  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t position = 0;
  for (;;) {
    visit(position);
    std::size_t axis = shape.size();
    for (;;) {
      if (axis == 0) {
        return;
      }
      --axis;
      position += strides[axis];
      if (++index[axis] < shape[axis]) {
        break;
      }
      position -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

std::string to_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace pewter::graph
