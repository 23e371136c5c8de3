#include "pewter/array/graph/shape.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
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
  std::int64_t expected = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] > 1 && strides[axis] != expected) {
      return false;
    }
    expected *= shape[axis] > 0 ? shape[axis] : 1;
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

Shape broadcast_shape(const char* origin, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::int64_t& length = result[lead + axis];
    if (length == 1) {
      length = shorter[axis];
    } else if (shorter[axis] != 1 && shorter[axis] != length) {
      throw std::invalid_argument(fmt::format("[{}] shapes {} and {} cannot be broadcast together",
                                              origin, to_text(a), to_text(b)));
    }
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  return from.size() <= to.size() && std::equal(from.rbegin(), from.rend(), to.rbegin(),
                                                [](std::int64_t length, std::int64_t wanted) {
                                                  return length == 1 || length == wanted;
                                                });
}

std::size_t leading_ones(const Shape& shape, std::size_t rank) {
  std::size_t count = 0;
  while (shape.size() - count > rank && shape[count] == 1) {
    ++count;
  }
  return count;
}

std::size_t checked_axis(const char* origin, int axis, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    throw std::invalid_argument(
        fmt::format("[{}] axis {} of an array of rank {}", origin, axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

std::vector<std::size_t> checked_axes(const char* origin,
                                      const std::vector<int>& axes,
                                      std::size_t rank) {
  std::vector<std::size_t> positions;
  for (const int axis : axes) {
    positions.push_back(checked_axis(origin, axis, rank));
  }
  std::sort(positions.begin(), positions.end());
  if (std::adjacent_find(positions.begin(), positions.end()) != positions.end()) {
    throw std::invalid_argument(fmt::format("[{}] an axis is given twice", origin));
  }
  return positions;
}

void expect_countable(const char* origin, std::int64_t length) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (length > kMost) {
    throw std::invalid_argument(fmt::format("[{}] {} elements along an axis; up to {} are possible",
                                            origin, length, kMost));
  }
}

void expect_dispatchable(const char* origin, std::int64_t count) {
  if (count > kMaxThreads) {
    throw std::invalid_argument(
        fmt::format("[{}] {} elements side by side; kernels run over up to {}, so do it in parts",
                    origin, count, kMaxThreads));
  }
}

Range slice_range(std::int64_t start, std::int64_t stop, std::int64_t step, std::int64_t length) {
  const auto inside = [&](std::int64_t position, std::int64_t low, std::int64_t high) {
    return std::clamp(position < 0 ? position + length : position, low, high);
  };
  if (step > 0) {
    const std::int64_t first = inside(start, 0, length);
    const std::int64_t last = inside(stop, 0, length);
    return {first, last > first ? (last - first - 1) / step + 1 : 0};
  }
  const std::int64_t first = inside(start, -1, length - 1);
  const std::int64_t last = inside(stop, -1, length - 1);
  // Both are negative: the least step has no positive counterpart.
  return {std::max<std::int64_t>(first, 0), first > last ? (last - first + 1) / step + 1 : 0};
}

void expect_slice(const char* origin,
                  const Shape& shape,
                  const Shape& start,
                  const Shape& stop,
                  const Shape& strides) {
  const std::size_t rank = shape.size();
  if (start.size() != rank || stop.size() != rank || strides.size() != rank) {
    throw std::invalid_argument(
        fmt::format("[{}] start, stop and strides of lengths {}, {} and {} for the shape {}",
                    origin, start.size(), stop.size(), strides.size(), to_text(shape)));
  }
  if (std::find(strides.begin(), strides.end(), 0) != strides.end()) {
    throw std::invalid_argument(fmt::format("[{}] a stride of 0", origin));
  }
}

std::string to_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace pewter::graph
