#include <fmt/core.h>
#include <pewter/ops.h>

#include <limits>
#include <stdexcept>
#include <utility>

#include "pewter/array/evaluation/groups.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/refusal.h"
#include "pewter/array/ops/single_output.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

// Rows shorter than a simdgroup are taken element by element.
constexpr std::int64_t kShortRow = 32;

/// As kernels/indexing.metal has it.
struct Take {
  std::uint32_t outer;
  std::uint32_t length;
  std::uint32_t inner;
  std::uint32_t count;
};

Take take_of(const graph::Node& in, std::size_t axis, std::size_t count) {
  const evaluation::Segments all = evaluation::segments(in.shape, axis, axis + 1);
  return {static_cast<std::uint32_t>(all.outer), static_cast<std::uint32_t>(all.reduced),
          static_cast<std::uint32_t>(all.inner), static_cast<std::uint32_t>(count)};
}

class TakePrimitive final : public ops::SingleOutput {
 public:
  explicit TakePrimitive(int axis) : axis_(axis) {}
  std::string_view name() const override { return "take"; }
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const Take take = take_of(*inputs[0], static_cast<std::size_t>(axis_), inputs[1]->size);
    const bool by_rows = take.inner >= kShortRow;
    const auto kernel = ops::shipped_kernel(
        "indexing.metal",
        fmt::format("take_{}_{}", by_rows ? "rows" : "elements", size_of(out.dtype)));
    ops::KernelCall call(stream, *kernel);
    call.input(*inputs[0]).input(*inputs[1]).output(out).value(take);
    if (by_rows) {
      call.dispatch_rows(take.inner, take.count, take.outer);
    } else {
      call.dispatch_rows(std::uint64_t{take.count} * take.inner, take.outer, 1);
    }
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {take(inputs[0], inputs[1], axis_)};
  }

 private:
  int axis_;
};

class TakeAlongPrimitive final : public ops::SingleOutput {
 public:
  explicit TakeAlongPrimitive(int axis) : axis_(axis) {}
  std::string_view name() const override { return "take_along_axis"; }
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const auto axis = static_cast<std::size_t>(axis_);
    const Take take = take_of(*inputs[0], axis, static_cast<std::size_t>(inputs[1]->shape[axis]));
    const auto kernel =
        ops::shipped_kernel("indexing.metal", fmt::format("take_along_{}", size_of(out.dtype)));
    ops::KernelCall(stream, *kernel)
        .input(*inputs[0])
        .input(*inputs[1])
        .output(out)
        .value(take)
        .dispatch_rows(std::uint64_t{take.count} * take.inner, take.outer, 1);
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {take_along_axis(inputs[0], inputs[1], axis_)};
  }

 private:
  int axis_;
};

class PutAlongPrimitive final : public graph::Primitive {
 public:
  PutAlongPrimitive(int axis, bool adds) : axis_(axis), adds_(adds) {}
  std::string_view name() const override { return adds_ ? "scatter_add_axis" : "put_along_axis"; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    if (!graph::take_memory(out, *inputs[0])) {
      ops::encode_copy(stream, *inputs[0], out);
    }
    if (inputs[1]->size == 0 || out.size == 0) {
      return;
    }
    const auto axis = static_cast<std::size_t>(axis_);
    const Take take = take_of(out, axis, static_cast<std::size_t>(inputs[1]->shape[axis]));
    const auto kernel = ops::shipped_kernel(
        "indexing.metal", adds_ ? fmt::format("put_along_add_{}", name_of(out.dtype))
                                : fmt::format("put_along_assign_{}", size_of(out.dtype)));
    ops::KernelCall(stream, *kernel)
        .output(out)
        .input(*inputs[1])
        .input(*inputs[2])
        .value(take)
        .dispatch_long_threads(std::uint64_t{take.outer} * take.inner);
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {adds_ ? scatter_add_axis(inputs[0], inputs[1], inputs[2], axis_)
                  : put_along_axis(inputs[0], inputs[1], inputs[2], axis_)};
  }

 private:
  int axis_;
  bool adds_;
};

/// Indices that int32 does not have are outside every axis, and stay there on the same side.
array within_int32(const array& indices, const StreamOrDevice& s) {
  constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kHigh = std::numeric_limits<std::int32_t>::max();
  const Dtype dtype = indices.dtype();
  const bool is_unsigned = dtype == Dtype::UInt32 || dtype == Dtype::UInt64;
  if (!is_unsigned && dtype != Dtype::Int64) {
    return indices;
  }
  const array below = minimum(indices, array(kHigh, dtype), s);
  return is_unsigned ? below : maximum(below, array(kLow, dtype), s);
}

array checked_indices(const char* origin, const array& indices, const StreamOrDevice& s) {
  const std::uint32_t stream = ops::stream_number(s);
  if (indices.dtype() >= Dtype::Float16 || indices.dtype() == Dtype::Bool) {
    throw std::invalid_argument(
        fmt::format("[{}] indices of type {}; possible are the integer "
                    "types",
                    origin, name_of(indices.dtype())));
  }
  return ops::row_contiguous(ops::convert(within_int32(indices, s), Dtype::Int32, stream), stream);
}

/// Indices that stand for places along an axis have all axes of the array.
void expect_equal_ranks(const char* origin, const array& a, const array& indices) {
  if (a.ndim() != indices.ndim()) {
    throw std::invalid_argument(
        fmt::format("[{}] indices of shape {} for the shape {}: ranks must be equal", origin,
                    graph::to_text(indices.shape()), graph::to_text(a.shape())));
  }
}

/// `count` of them are taken for each place on the other axes.
void expect_elements(const char* origin,
                     const array& a,
                     std::size_t axis,
                     const array& indices,
                     std::int64_t count) {
  graph::expect_countable(origin, a.shape()[axis]);
  const evaluation::Segments all = evaluation::segments(a.shape(), axis, axis + 1);
  graph::expect_dispatchable(origin, all.outer);
  graph::expect_dispatchable(origin, count);
  graph::expect_dispatchable(origin, all.inner);
  graph::expect_dispatchable(origin, count * all.inner);
  if (a.shape()[axis] == 0 && indices.size() > 0) {
    throw std::invalid_argument(fmt::format("[{}] no elements to take from the shape {}", origin,
                                            graph::to_text(a.shape())));
  }
}

/// Both, of equal rank, broadcast to each other on all axes but one.
std::pair<array, array> broadcast_but(
    const char* origin, const array& a, const array& indices, std::size_t axis, StreamOrDevice s) {
  Shape shape = a.shape();
  Shape index_shape = indices.shape();
  shape[axis] = 1;
  index_shape[axis] = 1;
  Shape common = graph::broadcast_shape(origin, shape, index_shape);
  shape = common;
  shape[axis] = a.shape()[axis];
  common[axis] = indices.shape()[axis];
  return {broadcast_to(a, shape, s), broadcast_to(indices, common, s)};
}

array put_along(const char* origin,
                bool adds,
                const array& a,
                const array& indices,
                const array& values,
                int axis,
                const StreamOrDevice& s) {
  const std::uint32_t stream = ops::stream_number(s);
  const std::size_t position = graph::checked_axis(origin, axis, a.ndim());
  if (adds && (a.dtype() == Dtype::Bool || a.dtype() == Dtype::Complex64)) {
    throw std::invalid_argument(
        fmt::format("[{}] elements of type {}", origin, name_of(a.dtype())));
  }
  expect_equal_ranks(origin, a, indices);
  expect_elements(origin, a, position, indices, indices.shape()[position]);
  const evaluation::Segments all = evaluation::segments(a.shape(), position, position + 1);
  graph::expect_dispatchable(origin, all.outer * all.inner);
  const auto [input, places] = broadcast_but(origin, a, indices, position, s);
  if (input.shape() != a.shape()) {
    throw std::invalid_argument(fmt::format("[{}] indices of shape {} for the shape {}", origin,
                                            graph::to_text(indices.shape()),
                                            graph::to_text(a.shape())));
  }
  if (!graph::broadcasts_to(values.shape(), places.shape())) {
    throw std::invalid_argument(fmt::format("[{}] values of shape {} for indices of shape {}",
                                            origin, graph::to_text(values.shape()),
                                            graph::to_text(places.shape())));
  }
  ops::expect_joinable(origin, a);
  ops::expect_joinable(origin, places);
  ops::expect_joinable(origin, values);
  const array value = broadcast_to(ops::convert(values, a.dtype(), stream), places.shape(), s);
  ops::expect_joinable(origin, value);
  return array(graph::make_computed(
      a.shape(), a.dtype(), std::make_shared<PutAlongPrimitive>(static_cast<int>(position), adds),
      {ops::row_contiguous(a, stream).node_pointer(),
       checked_indices(origin, places, s).node_pointer(),
       ops::row_contiguous(value, stream).node_pointer()},
      stream));
}

}  // namespace

array take(const array& a, const array& indices, int axis, StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  const std::size_t position = graph::checked_axis("take", axis, a.ndim());
  expect_elements("take", a, position, indices, static_cast<std::int64_t>(indices.size()));
  ops::expect_joinable("take", a);
  ops::expect_joinable("take", indices);
  const array input = ops::row_contiguous(a, stream);
  const array places = checked_indices("take", indices, s);
  const auto at = static_cast<std::ptrdiff_t>(position);
  Shape shape = a.shape();
  shape.erase(shape.begin() + at);
  shape.insert(shape.begin() + at, indices.shape().begin(), indices.shape().end());
  return array(graph::make_computed(std::move(shape), a.dtype(),
                                    std::make_shared<TakePrimitive>(static_cast<int>(position)),
                                    {input.node_pointer(), places.node_pointer()}, stream));
}

array take(const array& a, const array& indices, StreamOrDevice s) try {
  return take(reshape(a, {-1}, s), indices, 0, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("take", refusal);
}

array take_along_axis(const array& a, const array& indices, int axis, StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  const std::size_t position = graph::checked_axis("take_along_axis", axis, a.ndim());
  expect_equal_ranks("take_along_axis", a, indices);
  expect_elements("take_along_axis", a, position, indices, indices.shape()[position]);
  const auto [input, places] = broadcast_but("take_along_axis", a, indices, position, s);
  ops::expect_joinable("take_along_axis", input);
  ops::expect_joinable("take_along_axis", places);
  return array(graph::make_computed(
      places.shape(), a.dtype(), std::make_shared<TakeAlongPrimitive>(static_cast<int>(position)),
      {ops::row_contiguous(input, stream).node_pointer(),
       checked_indices("take_along_axis", places, s).node_pointer()},
      stream));
}

array put_along_axis(
    const array& a, const array& indices, const array& values, int axis, StreamOrDevice s) {
  return put_along("put_along_axis", false, a, indices, values, axis, s);
}

array scatter_add_axis(
    const array& a, const array& indices, const array& values, int axis, StreamOrDevice s) {
  return put_along("scatter_add_axis", true, a, indices, values, axis, s);
}

}  // namespace pewter
