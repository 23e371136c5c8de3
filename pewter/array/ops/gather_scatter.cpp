#include <fmt/core.h>
#include <pewter/ops.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/single_output.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

constexpr std::size_t kMaxAxes = 8;

/// As kernels/indexing.metal has it: axes with the last one first, each a bit of `sliding_axes` if
/// slices may overlap along it without covering each other.
struct Slices {
  std::uint32_t lengths[kMaxAxes];
  std::uint32_t axis_count;
  std::uint32_t slice_size;
  std::uint32_t count;
  std::uint32_t sliding_axes;
  std::int64_t strides[kMaxAxes];
  std::int64_t whole_lengths[kMaxAxes];
};

/// Slices of the shape `lengths` of a row contiguous array of the shape `whole`.
Slices slices_of(const char* origin, const Shape& lengths, const Shape& whole, std::size_t count) {
  graph::expect_dispatchable(origin, static_cast<std::int64_t>(graph::element_count(lengths, 1)));
  graph::expect_dispatchable(origin, static_cast<std::int64_t>(count));
  const Strides strides = graph::row_strides(whole);
  Slices slices = {};
  slices.slice_size = 1;
  slices.count = static_cast<std::uint32_t>(count);
  for (std::size_t axis = lengths.size(); axis-- > 0;) {
    slices.lengths[slices.axis_count] = static_cast<std::uint32_t>(lengths[axis]);
    slices.whole_lengths[slices.axis_count] = whole[axis];
    slices.strides[slices.axis_count] = strides[axis];
    slices.slice_size *= static_cast<std::uint32_t>(lengths[axis]);
    if (lengths[axis] > 1 && lengths[axis] < whole[axis]) {
      slices.sliding_axes |= 1U << slices.axis_count;
    }
    ++slices.axis_count;
  }
  return slices;
}

class GatherPrimitive final : public ops::SingleOutput {
 public:
  explicit GatherPrimitive(Slices slices) : slices_(slices) {}
  std::string_view name() const override { return "gather"; }
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const auto kernel =
        ops::shipped_kernel("indexing.metal", fmt::format("gather_{}", size_of(out.dtype)));
    ops::KernelCall(stream, *kernel)
        .input(*inputs[0])
        .input(*inputs[1])
        .output(out)
        .value(slices_)
        .dispatch_rows(slices_.slice_size, slices_.count, 1);
  }

 private:
  Slices slices_;
};

class ScatterPrimitive final : public graph::Primitive {
 public:
  ScatterPrimitive(const char* operation, Slices slices) : operation_(operation), slices_(slices) {}
  std::string_view name() const override { return "scatter"; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    if (!graph::take_memory(out, *inputs[0])) {
      ops::encode_copy(stream, *inputs[0], out);
    }
    if (out.size == 0 || slices_.count == 0 || slices_.slice_size == 0) {
      return;
    }
    const std::string_view operation = operation_;
    const auto kernel = ops::shipped_kernel(
        "indexing.metal", operation == "assign"
                              ? fmt::format("scatter_assign_{}", size_of(out.dtype))
                              : fmt::format("scatter_{}_{}", operation, name_of(out.dtype)));
    ops::KernelCall(stream, *kernel)
        .output(out)
        .input(*inputs[1])
        .input(*inputs[2])
        .value(slices_)
        .dispatch_long_threads(slices_.slice_size);
  }

 private:
  const char* operation_;
  Slices slices_;
};

std::invalid_argument failure(const char* origin, const std::string& reason) {
  return std::invalid_argument(fmt::format("[{}] {}", origin, reason));
}

/// The shape that the indices have together.
Shape index_shape(const char* origin, const std::vector<array>& indices) {
  Shape shape;
  for (const array& index : indices) {
    if (index.dtype() >= Dtype::Float16 || index.dtype() == Dtype::Bool) {
      throw failure(origin, fmt::format("indices of type {}; possible are the integer types",
                                        name_of(index.dtype())));
    }
    shape = graph::broadcast_shape(origin, shape, index.shape());
  }
  return shape;
}

/// Where slices begin, in elements: each index, kept inside, times its axis' stride.
array slice_offsets(const char* origin,
                    const array& a,
                    const std::vector<array>& indices,
                    const Axes& axes,
                    const Shape& slice_sizes,
                    std::uint32_t stream,
                    const StreamOrDevice& s) {
  if (indices.size() != axes.size()) {
    throw failure(origin,
                  fmt::format("{} arrays of indices for {} axes", indices.size(), axes.size()));
  }
  // An axis that is given twice would be left: each index alone is kept inside.
  graph::checked_axes(origin, axes, a.ndim());
  const Strides strides = graph::row_strides(a.shape());
  array total = full(index_shape(origin, indices), array(0, Dtype::Int64), s);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = graph::checked_axis(origin, axes[i], a.ndim());
    const std::int64_t last = a.shape()[axis] - slice_sizes[axis];
    if (last < 0) {
      throw failure(origin, fmt::format("slices of length {} along axis {} of the shape {}",
                                        slice_sizes[axis], axes[i], graph::to_text(a.shape())));
    }
    const auto number = [](std::int64_t value) { return array(value); };
    // The upper half of uint64 would become negative.
    const array given = indices[i].dtype() == Dtype::UInt64
                            ? minimum(indices[i], array(last, Dtype::UInt64), s)
                            : indices[i];
    const array index = ops::convert(given, Dtype::Int64, stream);
    const array from_start =
        where(less(index, number(0), s), add(index, number(a.shape()[axis]), s), index, s);
    const array inside = clip(from_start, number(0), number(last), s);
    total = add(total, multiply(inside, number(strides[axis]), s), s);
  }
  return total;
}

array scatter_with(const char* origin,
                   const char* operation,
                   const array& a,
                   const std::vector<array>& indices,
                   const array& updates,
                   const Axes& axes,
                   const StreamOrDevice& s) {
  const std::uint32_t stream = ops::stream_number(s);
  const bool combines = std::string_view(operation) != "assign";
  if (combines && (a.dtype() == Dtype::Bool || a.dtype() == Dtype::Complex64)) {
    throw failure(origin, fmt::format("elements of type {}", name_of(a.dtype())));
  }
  const Shape shape = index_shape(origin, indices);
  if (updates.ndim() != shape.size() + a.ndim() || a.ndim() > kMaxAxes) {
    throw failure(origin, fmt::format("updates of shape {} for indices of shape {} and an array of "
                                      "shape {}; the rank must be the sum of both",
                                      graph::to_text(updates.shape()), graph::to_text(shape),
                                      graph::to_text(a.shape())));
  }
  const Shape slice_sizes(updates.shape().begin() + static_cast<std::ptrdiff_t>(shape.size()),
                          updates.shape().end());
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    if (slice_sizes[axis] > a.shape()[axis]) {
      throw failure(origin, fmt::format("slices of shape {} for the shape {}",
                                        graph::to_text(slice_sizes), graph::to_text(a.shape())));
    }
  }
  const array offsets = slice_offsets(origin, a, indices, axes, slice_sizes, stream, s);
  Shape full_shape = shape;
  full_shape.insert(full_shape.end(), slice_sizes.begin(), slice_sizes.end());
  if (!graph::broadcasts_to(updates.shape(), full_shape)) {
    throw failure(origin, fmt::format("updates of shape {} for indices of shape {} and slices of "
                                      "shape {}",
                                      graph::to_text(updates.shape()), graph::to_text(shape),
                                      graph::to_text(slice_sizes)));
  }
  ops::expect_joinable(origin, updates);
  const array values = broadcast_to(ops::convert(updates, a.dtype(), stream), full_shape, s);
  ops::expect_joinable(origin, values);
  const Slices slices = slices_of(origin, slice_sizes, a.shape(), offsets.size());
  return array(graph::make_computed(a.shape(), a.dtype(),
                                    std::make_shared<ScatterPrimitive>(operation, slices),
                                    {ops::row_contiguous(a, stream).node_pointer(),
                                     ops::row_contiguous(offsets, stream).node_pointer(),
                                     ops::row_contiguous(values, stream).node_pointer()},
                                    stream));
}

}  // namespace

array gather(const array& a,
             const std::vector<array>& indices,
             const Axes& axes,
             const Shape& slice_sizes,
             StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  if (slice_sizes.size() != a.ndim() || a.ndim() > kMaxAxes) {
    throw failure("gather", fmt::format("{} slice sizes for the shape {}", slice_sizes.size(),
                                        graph::to_text(a.shape())));
  }
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    if (slice_sizes[axis] < 0 || slice_sizes[axis] > a.shape()[axis]) {
      throw failure("gather", fmt::format("slices of shape {} of the shape {}",
                                          graph::to_text(slice_sizes), graph::to_text(a.shape())));
    }
  }
  const array offsets = slice_offsets("gather", a, indices, axes, slice_sizes, stream, s);
  const Slices slices = slices_of("gather", slice_sizes, a.shape(), offsets.size());
  Shape shape = offsets.shape();
  shape.insert(shape.end(), slice_sizes.begin(), slice_sizes.end());
  return array(graph::make_computed(std::move(shape), a.dtype(),
                                    std::make_shared<GatherPrimitive>(slices),
                                    {ops::row_contiguous(a, stream).node_pointer(),
                                     ops::row_contiguous(offsets, stream).node_pointer()},
                                    stream));
}

array scatter(const array& a,
              const std::vector<array>& indices,
              const array& updates,
              const Axes& axes,
              StreamOrDevice s) {
  return scatter_with("scatter", "assign", a, indices, updates, axes, s);
}

array scatter_add(const array& a,
                  const std::vector<array>& indices,
                  const array& updates,
                  const Axes& axes,
                  StreamOrDevice s) {
  return scatter_with("scatter_add", "add", a, indices, updates, axes, s);
}

array scatter_prod(const array& a,
                   const std::vector<array>& indices,
                   const array& updates,
                   const Axes& axes,
                   StreamOrDevice s) {
  return scatter_with("scatter_prod", "prod", a, indices, updates, axes, s);
}

array scatter_max(const array& a,
                  const std::vector<array>& indices,
                  const array& updates,
                  const Axes& axes,
                  StreamOrDevice s) {
  return scatter_with("scatter_max", "max", a, indices, updates, axes, s);
}

array scatter_min(const array& a,
                  const std::vector<array>& indices,
                  const array& updates,
                  const Axes& axes,
                  StreamOrDevice s) {
  return scatter_with("scatter_min", "min", a, indices, updates, axes, s);
}

}  // namespace pewter
