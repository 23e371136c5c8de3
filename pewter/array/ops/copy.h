#pragma once

#include <pewter/array.h>

#include <cstdint>

#include "pewter/array/graph/node.h"
#include "pewter/runtime/stream.h"

namespace pewter::ops {

/// Throws std::invalid_argument for elements that encode_copy() does not copy from the one strides
/// to the other: operations call it before anything is computed.
void expect_copyable(const char* origin,
                     const Shape& shape,
                     const Strides& from,
                     const Strides& to);

/// Encodes a copy of all elements of `from` into the memory of `to`, at `strides` from `offset`
/// elements behind its first. Both have memory and the same type; `from` may be a constant.
void encode_copy(runtime::Stream& stream,
                 const graph::Node& from,
                 const graph::Node& to,
                 const Strides& strides,
                 std::int64_t offset);

/// The same into all of `to`, which has the same shape and is row contiguous.
void encode_copy(runtime::Stream& stream, const graph::Node& from, const graph::Node& to);

/// Encodes that every element of `to`, which has memory of its own, becomes `number`.
void encode_fill(runtime::Stream& stream, double number, const graph::Node& to);

/// The array with elements one after the other; computed as an operation when they are not.
array row_contiguous(const array& a, std::uint32_t stream);

}  // namespace pewter::ops
