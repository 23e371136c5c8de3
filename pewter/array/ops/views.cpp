#include <fmt/core.h>
#include <pewter/ops.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/refusal.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

/// The shape with its -1, if any, replaced by what is left of `size` elements.
Shape completed(const Shape& shape, std::size_t size, const Shape& from) {
  Shape result = shape;
  std::size_t known = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& length : result) {
    if (length == -1 && open == nullptr) {
      open = &length;
    } else {
      known *= length < 0 ? 0 : static_cast<std::size_t>(length);
    }
  }
  if (open != nullptr && known > 0 && size % known == 0) {
    *open = static_cast<std::int64_t>(size / known);
  }
  const bool is_negative =
      std::any_of(result.begin(), result.end(), [](std::int64_t length) { return length < 0; });
  if (is_negative || graph::element_count(result, 1) != size) {
    throw std::invalid_argument(fmt::format("[reshape] the shape {} with {} elements as {}",
                                            graph::to_text(from), size, graph::to_text(shape)));
  }
  return result;
}

/// Strides with which `shape` looks at the elements of `node` in row order; false when there are
/// none. Walks both shapes in runs that have the same number of elements.
bool reshaped_strides(const graph::Node& node, const Shape& shape, Strides& strides) {
  if (node.is_row_contiguous) {
    strides = graph::row_strides(shape);
    return true;
  }
  strides.assign(shape.size(), 0);
  std::size_t old_end = node.shape.size();
  std::size_t new_end = shape.size();
  while (new_end > 0) {
    std::int64_t old_count = 1;
    std::int64_t new_count = 1;
    std::size_t old_begin = old_end;
    std::size_t new_begin = new_end;
    do {
      if (new_count <= old_count && new_begin > 0) {
        new_count *= shape[--new_begin];
      } else if (old_begin > 0) {
        old_count *= node.shape[--old_begin];
      } else {
        return false;
      }
    } while (old_count != new_count);
    // The old axes of the run must lie one after the other.
    std::int64_t step = -1;
    std::int64_t inner_step = 0;
    for (std::size_t axis = old_end; axis-- > old_begin;) {
      if (node.shape[axis] == 1) {
        continue;
      }
      if (step < 0) {
        inner_step = node.strides[axis];
      } else if (node.strides[axis] != step) {
        return false;
      }
      step = node.strides[axis] * node.shape[axis];
      if (node.strides[axis] < 0) {
        return false;
      }
    }
    for (std::size_t axis = new_end; axis-- > new_begin;) {
      strides[axis] = inner_step;
      inner_step *= shape[axis];
    }
    old_end = old_begin;
    new_end = new_begin;
  }
  return true;
}

std::vector<std::size_t> permutation(const array& a, const Axes& axes) {
  std::vector<std::size_t> order;
  std::vector<bool> seen(a.ndim(), false);
  for (const int axis : axes) {
    const std::size_t position = graph::checked_axis("transpose", axis, a.ndim());
    if (seen[position]) {
      throw std::invalid_argument(fmt::format("[transpose] axis {} is given twice", axis));
    }
    seen[position] = true;
    order.push_back(position);
  }
  if (order.size() != a.ndim()) {
    throw std::invalid_argument(
        fmt::format("[transpose] {} axes for an array of rank {}", axes.size(), a.ndim()));
  }
  return order;
}

}  // namespace

array reshape(const array& a, Shape shape, StreamOrDevice s) {
  const ops::LengthsScope lengths_are_repeated;
  const array input = ops::viewable(a);
  const Shape lengths = completed(shape, input.size(), input.shape());
  Strides strides;
  if (!reshaped_strides(input.node(), lengths, strides)) {
    ops::expect_joinable("reshape", input);
    return reshape(contiguous(input, s), std::move(shape), s);
  }
  auto view = graph::make_view(input.node_pointer(), lengths, std::move(strides), 0);
  return ops::traced_view(
      std::move(view), input, "reshape",
      [shape = std::move(shape), s](const array& other) { return reshape(other, shape, s); });
}

array flatten(const array& a, int start_axis, int end_axis, StreamOrDevice s) try {
  if (a.ndim() == 0) {
    return reshape(a, {1}, s);
  }
  const std::size_t first = graph::checked_axis("flatten", start_axis, a.ndim());
  const std::size_t last = graph::checked_axis("flatten", end_axis, a.ndim());
  if (first > last) {
    throw std::invalid_argument(
        fmt::format("[flatten] the first axis, {}, is behind the last, {}", start_axis, end_axis));
  }
  const Shape& old = a.shape();
  Shape shape(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(first));
  shape.push_back(std::accumulate(old.begin() + static_cast<std::ptrdiff_t>(first),
                                  old.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                  std::int64_t{1}, std::multiplies<>()));
  shape.insert(shape.end(), old.begin() + static_cast<std::ptrdiff_t>(last) + 1, old.end());
  return reshape(a, std::move(shape), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("flatten", refusal);
}

array unflatten(const array& a, int axis, const Shape& shape, StreamOrDevice s) try {
  const std::size_t position = graph::checked_axis("unflatten", axis, a.ndim());
  const Shape inner =
      completed(shape, static_cast<std::size_t>(a.shape()[position]), {a.shape()[position]});
  Shape result = a.shape();
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(position));
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(position), inner.begin(), inner.end());
  return reshape(a, std::move(result), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("unflatten", refusal);
}

array squeeze(const array& a, const Axes& axes, StreamOrDevice /*s*/) {
  const ops::LengthsScope lengths_are_repeated;
  const array input = ops::viewable(a);
  std::vector<bool> gone(a.ndim(), false);
  for (const int axis : axes) {
    const std::size_t position = graph::checked_axis("squeeze", axis, a.ndim());
    if (a.shape()[position] != 1 || gone[position]) {
      throw std::invalid_argument(
          fmt::format("[squeeze] axis {} of the shape {}: its length must "
                      "be 1, and each axis may be given once",
                      axis, graph::to_text(a.shape())));
    }
    gone[position] = true;
  }
  Shape shape;
  Strides strides;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    if (!gone[axis]) {
      shape.push_back(a.shape()[axis]);
      strides.push_back(input.strides()[axis]);
    }
  }
  return ops::traced_view(
      graph::make_view(input.node_pointer(), std::move(shape), std::move(strides), 0), input,
      "squeeze", [axes](const array& other) { return squeeze(other, axes); });
}

array squeeze(const array& a, int axis, StreamOrDevice s) {
  return squeeze(a, Axes{axis}, s);
}

array squeeze(const array& a, StreamOrDevice s) {
  Axes axes;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    if (a.shape()[axis] == 1) {
      axes.push_back(static_cast<int>(axis));
    }
  }
  return squeeze(a, axes, s);
}

array expand_dims(const array& a, const Axes& axes, StreamOrDevice /*s*/) {
  const ops::LengthsScope lengths_are_repeated;
  const array input = ops::viewable(a);
  const std::size_t rank = a.ndim() + axes.size();
  std::vector<bool> is_new(rank, false);
  for (const int axis : axes) {
    const std::size_t position = graph::checked_axis("expand_dims", axis, rank);
    if (is_new[position]) {
      throw std::invalid_argument(fmt::format("[expand_dims] axis {} is given twice", axis));
    }
    is_new[position] = true;
  }
  Shape shape;
  Strides strides;
  std::size_t old = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    shape.push_back(is_new[axis] ? 1 : a.shape()[old]);
    strides.push_back(is_new[axis] ? 1 : input.strides()[old]);
    old += is_new[axis] ? 0 : 1;
  }
  return ops::traced_view(
      graph::make_view(input.node_pointer(), std::move(shape), std::move(strides), 0), input,
      "expand_dims", [axes](const array& other) { return expand_dims(other, axes); });
}

array expand_dims(const array& a, int axis, StreamOrDevice s) {
  return expand_dims(a, Axes{axis}, s);
}

array transpose(const array& a, const Axes& axes, StreamOrDevice /*s*/) {
  const ops::LengthsScope lengths_are_repeated;
  const std::vector<std::size_t> order = permutation(a, axes);
  const array input = ops::viewable(a);
  Shape shape;
  Strides strides;
  for (const std::size_t axis : order) {
    shape.push_back(input.shape()[axis]);
    strides.push_back(input.strides()[axis]);
  }
  return ops::traced_view(
      graph::make_view(input.node_pointer(), std::move(shape), std::move(strides), 0), input,
      "transpose", [axes](const array& other) { return transpose(other, axes); });
}

array transpose(const array& a, StreamOrDevice s) {
  Axes axes(a.ndim());
  std::iota(axes.rbegin(), axes.rend(), 0);
  return transpose(a, axes, s);
}

array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s) {
  Axes axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[graph::checked_axis("swapaxes", axis1, a.ndim())],
            axes[graph::checked_axis("swapaxes", axis2, a.ndim())]);
  return transpose(a, axes, s);
}

array moveaxis(const array& a, int source, int destination, StreamOrDevice s) {
  const std::size_t from = graph::checked_axis("moveaxis", source, a.ndim());
  const std::size_t to = graph::checked_axis("moveaxis", destination, a.ndim());
  Axes axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(from));
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(to), static_cast<int>(from));
  return transpose(a, axes, s);
}

array broadcast_to(const array& a, const Shape& shape, StreamOrDevice /*s*/) {
  const Shape common = graph::broadcast_shape("broadcast_to", a.shape(), shape);
  if (common != shape) {
    throw std::invalid_argument(fmt::format("[broadcast_to] the shape {} cannot be broadcast to {}",
                                            graph::to_text(a.shape()), graph::to_text(shape)));
  }
  if (a.shape() == shape) {
    return a;
  }
  const array input = ops::viewable(a);
  const std::size_t lead = shape.size() - a.ndim();
  Strides strides(shape.size(), 0);
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    strides[lead + axis] = a.shape()[axis] == 1 ? 0 : input.strides()[axis];
  }
  return ops::traced_view(graph::make_view(input.node_pointer(), shape, std::move(strides), 0),
                          input, "broadcast_to",
                          [shape](const array& other) { return broadcast_to(other, shape); });
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  return graph::broadcast_shape("broadcast_shapes", a, b);
}

std::vector<array> broadcast_arrays(const std::vector<array>& inputs, StreamOrDevice s) {
  Shape shape;
  for (const array& input : inputs) {
    shape = graph::broadcast_shape("broadcast_arrays", shape, input.shape());
  }
  std::vector<array> outputs;
  for (const array& input : inputs) {
    outputs.push_back(broadcast_to(input, shape, s));
  }
  return outputs;
}

array slice(const array& a,
            const Shape& start,
            const Shape& stop,
            const Shape& strides,
            StreamOrDevice /*s*/) {
  const ops::LengthsScope lengths_are_repeated;
  graph::expect_slice("slice", a.shape(), start, stop, strides);
  const array input = ops::viewable(a);
  Shape shape = input.shape();
  Strides steps = input.strides();
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    const graph::Range range =
        graph::slice_range(start[axis], stop[axis], strides[axis], shape[axis]);
    shape[axis] = range.count;
    offset += range.count > 0 ? range.first * steps[axis] : 0;
    steps[axis] *= range.count > 1 ? strides[axis] : 1;
  }
  return ops::traced_view(
      graph::make_view(input.node_pointer(), std::move(shape), std::move(steps), offset), input,
      "slice", [=](const array& other) { return slice(other, start, stop, strides); });
}

array slice(const array& a, const Shape& start, const Shape& stop, StreamOrDevice s) {
  return slice(a, start, stop, Shape(a.ndim(), 1), s);
}

array contiguous(const array& a, StreamOrDevice s) {
  const array input = ops::usable(a);
  if (input.row_contiguous()) {
    return input;
  }
  ops::expect_joinable("contiguous", input);
  return copy(input, s);
}

array copy(const array& a, StreamOrDevice s) {
  ops::expect_joinable("copy", a);
  return ops::apply_row(ops::conversion_row(), {ops::usable(a).node_pointer()}, a.dtype(),
                        ops::stream_number(s));
}

array stop_gradient(const array& a, StreamOrDevice /*s*/) {
  return a;
}

array view(const array& a, Dtype dtype, StreamOrDevice s) {
  const std::size_t old_bytes = size_of(a.dtype());
  const std::size_t new_bytes = size_of(dtype);
  ops::expect_joinable("view", a);
  array input = contiguous(ops::viewable(a), s);
  Shape shape = input.shape();
  if (old_bytes != new_bytes) {
    const std::size_t row =
        (shape.empty() ? 0 : static_cast<std::size_t>(shape.back())) * old_bytes;
    if (shape.empty() || row % new_bytes != 0) {
      throw std::invalid_argument(
          fmt::format("[view] the last axis of {} {} has {} bytes, which elements of type {} do "
                      "not fill",
                      name_of(a.dtype()), graph::to_text(a.shape()), row, name_of(dtype)));
    }
    shape.back() = static_cast<std::int64_t>(row / new_bytes);
  }
  const graph::Node& from = input.node();
  const auto byte_offset = static_cast<std::size_t>(from.offset) * old_bytes;
  if (byte_offset % new_bytes != 0) {
    input = copy(input, s);
  }
  auto made = graph::make_view(input.node_pointer(), shape, graph::row_strides(shape), 0);
  made->dtype = dtype;
  made->offset = static_cast<std::int64_t>(static_cast<std::size_t>(input.node().offset) *
                                           old_bytes / new_bytes);
  made->size = graph::element_count(shape, new_bytes);
  return ops::traced_view(std::move(made), input, "view",
                          [dtype, s](const array& other) { return view(other, dtype, s); });
}

}  // namespace pewter
