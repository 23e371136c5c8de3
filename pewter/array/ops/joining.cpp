#include <fmt/core.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/refusal.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

class ConcatenatePrimitive final : public graph::Primitive {
 public:
  explicit ConcatenatePrimitive(int axis) : axis_(axis) {}
  std::string_view name() const override { return "concatenate"; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    graph::allocate_memory(out);
    std::int64_t offset = 0;
    const auto axis = static_cast<std::size_t>(axis_);
    for (const graph::NodePointer& input : inputs) {
      ops::encode_copy(stream, *input, out, out.strides, offset);
      offset += input->shape[axis] * out.strides[axis];
    }
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {concatenate(inputs, axis_)};
  }

 private:
  int axis_;
};

struct Region {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;
};

/// A copy of the first input with the second in a part of it.
class UpdatePrimitive final : public graph::Primitive {
 public:
  explicit UpdatePrimitive(Region region) : region_(std::move(region)) {}
  std::string_view name() const override { return "slice_update"; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    // An input that dies here is changed in place.
    if (!graph::take_memory(out, *inputs[0])) {
      ops::encode_copy(stream, *inputs[0], out);
    }
    ops::encode_copy(stream, *inputs[1], out, region_.strides, region_.offset);
  }

 private:
  Region region_;
};

void expect_equal_but(const std::vector<array>& arrays, std::size_t axis) {
  Shape expected = arrays[0].shape();
  expected[axis] = 0;
  for (const array& a : arrays) {
    Shape shape = a.shape();
    if (shape.size() == expected.size()) {
      shape[axis] = 0;
    }
    if (shape != expected) {
      throw std::invalid_argument(
          fmt::format("[concatenate] shapes {} and {} differ in more than axis {}",
                      graph::to_text(arrays[0].shape()), graph::to_text(a.shape()), axis));
    }
  }
}

/// What slice_update() writes to a part of that shape: axes of length 1 in front do not matter.
array fitted_update(const array& update, const Shape& part, const StreamOrDevice& s) {
  Axes gone(graph::leading_ones(update.shape(), part.size()));
  std::iota(gone.begin(), gone.end(), 0);
  const array rest = gone.empty() ? update : squeeze(update, gone, s);
  if (!graph::broadcasts_to(rest.shape(), part)) {
    throw std::invalid_argument(
        fmt::format("[slice_update] an update of shape {} for a part of shape {}",
                    graph::to_text(update.shape()), graph::to_text(part)));
  }
  return broadcast_to(rest, part, s);
}

/// Elements first to last of one axis.
array part(
    const array& a, std::size_t axis, std::int64_t first, std::int64_t last, StreamOrDevice s) {
  Shape start(a.ndim(), 0);
  Shape stop = a.shape();
  start[axis] = first;
  stop[axis] = last;
  return slice(a, start, stop, s);
}

}  // namespace

array concatenate(const std::vector<array>& arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) {
    throw std::invalid_argument("[concatenate] no arrays");
  }
  const std::size_t position = graph::checked_axis("concatenate", axis, arrays[0].ndim());
  expect_equal_but(arrays, position);
  const std::uint32_t stream = ops::stream_number(s);
  const Dtype dtype = result_type(arrays);
  std::vector<graph::NodePointer> inputs;
  Shape shape = arrays[0].shape();
  shape[position] = 0;
  for (const array& a : arrays) {
    shape[position] += a.shape()[position];
    inputs.push_back(ops::viewable(ops::convert(a, dtype, stream)).node_pointer());
  }
  auto made = graph::make_computed(
      std::move(shape), dtype, std::make_shared<ConcatenatePrimitive>(static_cast<int>(position)),
      std::move(inputs), stream);
  for (const graph::NodePointer& input : made->inputs) {
    ops::expect_copyable("concatenate", input->shape, input->strides, made->strides);
  }
  return array(std::move(made));
}

array stack(const std::vector<array>& arrays, int axis, StreamOrDevice s) try {
  if (arrays.empty()) {
    throw std::invalid_argument("[stack] no arrays");
  }
  const std::size_t position = graph::checked_axis("stack", axis, arrays[0].ndim() + 1);
  std::vector<array> expanded;
  for (const array& a : arrays) {
    if (a.shape() != arrays[0].shape()) {
      throw std::invalid_argument(fmt::format("[stack] shapes {} and {} differ",
                                              graph::to_text(arrays[0].shape()),
                                              graph::to_text(a.shape())));
    }
    expanded.push_back(expand_dims(a, static_cast<int>(position), s));
  }
  return concatenate(expanded, static_cast<int>(position), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("stack", refusal);
}

std::vector<array> split(const array& a, const Shape& positions, int axis, StreamOrDevice s) {
  const std::size_t at = graph::checked_axis("split", axis, a.ndim());
  std::vector<array> parts;
  std::int64_t first = 0;
  for (const std::int64_t position : positions) {
    parts.push_back(part(a, at, first, position, s));
    first = position;
  }
  parts.push_back(part(a, at, first, a.shape()[at], s));
  return parts;
}

std::vector<array> split(const array& a, int parts, int axis, StreamOrDevice s) {
  const std::size_t at = graph::checked_axis("split", axis, a.ndim());
  if (parts < 1 || a.shape()[at] % parts != 0) {
    throw std::invalid_argument(fmt::format("[split] axis {} of the shape {} into {} equal parts",
                                            axis, graph::to_text(a.shape()), parts));
  }
  Shape positions;
  for (int i = 1; i < parts; ++i) {
    positions.push_back(a.shape()[at] / parts * i);
  }
  return split(a, positions, axis, s);
}

array slice_update(const array& a,
                   const array& update,
                   const Shape& start,
                   const Shape& stop,
                   const Shape& strides,
                   StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  graph::expect_slice("slice_update", a.shape(), start, stop, strides);
  // The slice of a row contiguous array of that shape says where the update goes.
  auto frame = std::make_shared<graph::Node>();
  frame->shape = a.shape();
  frame->strides = graph::row_strides(a.shape());
  frame->size = a.size();
  frame->dtype = a.dtype();
  const array region = slice(array(std::move(frame)), start, stop, strides, s);
  const array before = ops::viewable(a);
  const array value =
      ops::viewable(fitted_update(ops::convert(update, a.dtype(), stream), region.shape(), s));
  ops::expect_copyable("slice_update", a.shape(), before.strides(), graph::row_strides(a.shape()));
  ops::expect_copyable("slice_update", region.shape(), value.strides(), region.strides());
  return array(graph::make_computed(a.shape(), a.dtype(),
                                    std::make_shared<UpdatePrimitive>(Region{
                                        region.shape(), region.strides(), region.node().offset}),
                                    {before.node_pointer(), value.node_pointer()}, stream));
}

array slice_update(
    const array& a, const array& update, const Shape& start, const Shape& stop, StreamOrDevice s) {
  return slice_update(a, update, start, stop, Shape(a.ndim(), 1), s);
}

array tile(const array& a, std::vector<int> repetitions, StreamOrDevice s) try {
  Shape shape = a.shape();
  while (shape.size() < repetitions.size()) {
    shape.insert(shape.begin(), 1);
  }
  while (repetitions.size() < shape.size()) {
    repetitions.insert(repetitions.begin(), 1);
  }
  Shape with_ones;
  Shape repeated;
  Shape result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (repetitions[axis] < 0) {
      throw std::invalid_argument(fmt::format("[tile] {} repetitions", repetitions[axis]));
    }
    with_ones.insert(with_ones.end(), {1, shape[axis]});
    repeated.insert(repeated.end(), {repetitions[axis], shape[axis]});
    result.push_back(shape[axis] * repetitions[axis]);
  }
  const array tiles = broadcast_to(reshape(a, with_ones, s), repeated, s);
  ops::expect_joinable("tile", tiles);
  return reshape(tiles, result, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("tile", refusal);
}

array repeat(const array& a, int repetitions, int axis, StreamOrDevice s) {
  const std::size_t at = graph::checked_axis("repeat", axis, a.ndim());
  if (repetitions < 0) {
    throw std::invalid_argument(fmt::format("[repeat] {} repetitions", repetitions));
  }
  Shape repeated = a.shape();
  repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(at) + 1, repetitions);
  Shape result = a.shape();
  result[at] *= repetitions;
  const array expanded = expand_dims(a, static_cast<int>(at) + 1, s);
  const array copies = broadcast_to(expanded, repeated, s);
  ops::expect_joinable("repeat", copies);
  return reshape(copies, result, s);
}

array repeat(const array& a, int repetitions, StreamOrDevice s) try {
  return repeat(flatten(a, 0, -1, s), repetitions, 0, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("repeat", refusal);
}

array roll(const array& a, std::int64_t shift, int axis, StreamOrDevice s) try {
  const std::size_t at = graph::checked_axis("roll", axis, a.ndim());
  const std::int64_t length = a.shape()[at];
  if (length == 0) {
    return a;
  }
  const std::int64_t cut = (length - shift % length) % length;
  if (cut == 0) {
    return a;
  }
  return concatenate({part(a, at, cut, length, s), part(a, at, 0, cut, s)}, static_cast<int>(at),
                     s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("roll", refusal);
}

array roll(const array& a, std::int64_t shift, StreamOrDevice s) try {
  return reshape(roll(flatten(a, 0, -1, s), shift, 0, s), a.shape(), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("roll", refusal);
}

array roll(const array& a, const Shape& shifts, const Axes& axes, StreamOrDevice s) try {
  if (shifts.size() != axes.size()) {
    throw std::invalid_argument(
        fmt::format("[roll] {} shifts for {} axes", shifts.size(), axes.size()));
  }
  array result = a;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result = roll(result, shifts[i], axes[i], s);
  }
  return result;
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("roll", refusal);
}

array pad(const array& a,
          const std::vector<std::pair<int, int>>& widths,
          const array& value,
          const std::string& mode,
          StreamOrDevice s) try {
  if (widths.size() != 1 && widths.size() != a.ndim()) {
    throw std::invalid_argument(
        fmt::format("[pad] {} pairs of widths for the shape {}; give one for each axis, or one",
                    widths.size(), graph::to_text(a.shape())));
  }
  if (mode != "constant" && mode != "edge") {
    throw std::invalid_argument(
        fmt::format("[pad] mode '{}'; possible are constant and edge", mode));
  }
  Shape start(a.ndim());
  Shape stop(a.ndim());
  Shape shape = a.shape();
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    const std::pair<std::int64_t, std::int64_t> width = widths[widths.size() == 1 ? 0 : axis];
    const auto [before, after] = width;
    if (before < 0 || after < 0) {
      throw std::invalid_argument(fmt::format("[pad] negative width ({}, {})", before, after));
    }
    start[axis] = before;
    stop[axis] = before + a.shape()[axis];
    shape[axis] += before + after;
    if (mode == "edge" && a.shape()[axis] == 0 && shape[axis] > 0) {
      throw std::invalid_argument(
          fmt::format("[pad] mode 'edge' and no elements along axis {} of the shape {}", axis,
                      graph::to_text(a.shape())));
    }
  }
  if (mode == "constant") {
    if (!graph::broadcasts_to(value.shape(), shape)) {
      throw std::invalid_argument(fmt::format("[pad] a value of shape {} for the padded shape {}",
                                              graph::to_text(value.shape()),
                                              graph::to_text(shape)));
    }
    return slice_update(full(shape, value, a.dtype(), s), a, start, stop, s);
  }
  array result = a;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t length = a.shape()[axis];
    if (length == 0 || shape[axis] == length) {
      continue;
    }
    Shape edge = result.shape();
    edge[axis] = start[axis];
    const array before = broadcast_to(part(result, axis, 0, 1, s), edge, s);
    edge[axis] = shape[axis] - stop[axis];
    const array after = broadcast_to(part(result, axis, length - 1, length, s), edge, s);
    result = concatenate({before, result, after}, static_cast<int>(axis), s);
  }
  return result;
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("pad", refusal);
}

array diagonal(const array& a, int offset, int axis1, int axis2, StreamOrDevice s) {
  const std::size_t first = graph::checked_axis("diagonal", axis1, a.ndim());
  const std::size_t second = graph::checked_axis("diagonal", axis2, a.ndim());
  if (first == second) {
    throw std::invalid_argument(fmt::format("[diagonal] axis {} twice", axis1));
  }
  static_cast<void>(s);
  const array input = ops::viewable(a);
  const std::int64_t rows = a.shape()[first];
  const std::int64_t columns = a.shape()[second];
  const std::int64_t right = std::max(offset, 0);
  const std::int64_t down = right - offset;
  Shape shape;
  Strides strides;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    if (axis != first && axis != second) {
      shape.push_back(input.shape()[axis]);
      strides.push_back(input.strides()[axis]);
    }
  }
  shape.push_back(std::max<std::int64_t>(std::min(rows - down, columns - right), 0));
  strides.push_back(input.strides()[first] + input.strides()[second]);
  const std::int64_t start =
      shape.back() > 0 ? down * input.strides()[first] + right * input.strides()[second] : 0;
  return ops::traced_view(
      graph::make_view(input.node_pointer(), std::move(shape), std::move(strides), start), input,
      "diagonal", [=](const array& other) { return diagonal(other, offset, axis1, axis2); });
}

array diag(const array& a, int k, StreamOrDevice s) try {
  if (a.ndim() == 2) {
    return diagonal(a, k, 0, 1, s);
  }
  if (a.ndim() != 1) {
    throw std::invalid_argument(fmt::format("[diag] an array of rank {}; needs 1 or 2", a.ndim()));
  }
  const std::int64_t length = a.shape()[0] + std::abs(std::int64_t{k});
  if (length > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument(fmt::format(
        "[diag] {} elements on diagonal {}: the matrix would have {} rows, more than {}",
        a.shape()[0], k, length, std::numeric_limits<std::int32_t>::max()));
  }
  const int n = static_cast<int>(length);
  const array row = expand_dims(arange(n, s), 1, s);
  const array on_diagonal = equal(arange(n, s), add(row, array(k), s), s);
  // Element i stands in column i + k for k > 0, else in row i - k.
  const auto before = std::max(k, 0);
  const array line = pad(a, {{before, n - before - static_cast<int>(a.size())}},
                         array(0, a.dtype()), "constant", s);
  return where(on_diagonal, line, array(0, a.dtype()), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("diag", refusal);
}

}  // namespace pewter
