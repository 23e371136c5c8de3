#pragma once

#include <pewter/array.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace pewter::graph {

/// Number of elements. Throws std::invalid_argument for a negative length, and when the bytes of
/// such elements do not fit in 63 bits.
std::size_t element_count(const Shape& shape, std::size_t item_bytes);

/// Strides of a row contiguous array.
Strides row_strides(const Shape& shape);

/// Whether elements of that layout lie one after the other; axes of length 1 do not matter.
bool is_row_contiguous(const Shape& shape, const Strides& strides);

/// Calls `visit` with the position of each element, in elements from the first, row by row.
void for_each_position(const Shape& shape,
                       const Strides& strides,
                       const std::function<void(std::int64_t)>& visit);

/// The shape that both are broadcast to. Throws std::invalid_argument, tagged with `origin`, when
/// lengths differ and neither is 1.
Shape broadcast_shape(const char* origin, const Shape& a, const Shape& b);

/// Whether an array of the first shape can be broadcast to the second.
bool broadcasts_to(const Shape& from, const Shape& to);

/// How many of the axes in front of the last `rank` have length 1, up to the first that has not.
std::size_t leading_ones(const Shape& shape, std::size_t rank);

/// An axis that counts from the end when negative. Throws std::invalid_argument, tagged with
/// `origin`, when there is none such.
std::size_t checked_axis(const char* origin, int axis, std::size_t rank);

/// The positions of such axes, in order. Throws too when one is given twice.
std::vector<std::size_t> checked_axes(const char* origin,
                                      const std::vector<int>& axes,
                                      std::size_t rank);

/// Throws std::invalid_argument, tagged with `origin`, for a length beyond what kernels count.
void expect_countable(const char* origin, std::int64_t length);

/// More threads than these cannot stand side by side; a part of a group may be missing.
inline constexpr std::int64_t kMaxThreads = std::numeric_limits<std::uint32_t>::max() - 1024;
/// Throws std::invalid_argument, tagged with `origin`, for a larger number of elements.
void expect_dispatchable(const char* origin, std::int64_t count);

/// Elements of an axis: the first one, and how many.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
/// What Python's [start:stop:step] takes of an axis of that length; the step is not 0.
Range slice_range(std::int64_t start, std::int64_t stop, std::int64_t step, std::int64_t length);

/// Throws std::invalid_argument, tagged with `origin`, when there is not one of each for every
/// axis, and for a stride of 0.
void expect_slice(const char* origin,
                  const Shape& shape,
                  const Shape& start,
                  const Shape& stop,
                  const Shape& strides);

/// For instance "[4, 16]".
std::string to_text(const Shape& shape);

}  // namespace pewter::graph
