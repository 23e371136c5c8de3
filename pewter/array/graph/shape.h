#pragma once

#include <pewter/array.h>

#include <cstddef>
#include <functional>
#include <string>

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

/// An axis that counts from the end when negative. Throws std::invalid_argument, tagged with
/// `origin`, when there is none such.
std::size_t checked_axis(const char* origin, int axis, std::size_t rank);

/// For instance "[4, 16]".
std::string to_text(const Shape& shape);

}  // namespace pewter::graph
