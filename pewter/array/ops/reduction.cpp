#include "pewter/array/ops/reduction.h"

#include <fmt/core.h>
#include <pewter/ops.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "pewter/array/evaluation/groups.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/trace.h"

namespace pewter::ops {
namespace {

class ReductionPrimitive final : public graph::Primitive {
 public:
  ReductionPrimitive(Reduction reduction, Dtype result) : reduction_(reduction), result_(result) {}
  std::string_view name() const override { return name_of(reduction_.kind); }
  const Reduction* reduction() const override { return &reduction_; }
  void encode(runtime::Stream&,
              std::span<const graph::NodePointer>,
              std::span<graph::Node* const>) const override {
    throw std::logic_error(fmt::format("{} has no kernel of its own", name()));
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override;

 private:
  Reduction reduction_;
  Dtype result_;
};

/// Reduces neighbouring axes, which stay with length 1.
array reduce_run(const array& a, Reduction reduction, Dtype result, std::uint32_t stream) {
  array input = viewable(a);
  const bool can_join =
      evaluation::segment_strides(input.node(), input.shape(), reduction.first, reduction.last)
          .exist;
  if (!can_join) {
    input = apply_row(conversion_row(), {input.node_pointer()}, input.dtype(), stream);
  }
  Shape shape = input.shape();
  for (std::size_t axis = reduction.first; axis < reduction.last; ++axis) {
    shape[axis] = 1;
  }
  return array(graph::make_computed(std::move(shape), result,
                                    std::make_shared<ReductionPrimitive>(reduction, result),
                                    {input.node_pointer()}, stream));
}

std::vector<array> ReductionPrimitive::apply(const std::vector<array>& inputs,
                                             std::uint32_t stream) const {
  return {reduce_run(inputs[0], reduction_, result_, stream)};
}

struct ReductionTypes {
  Dtype accumulator;
  Dtype result;
};

bool is_half(Dtype dtype) {
  return dtype == Dtype::Float16 || dtype == Dtype::BFloat16;
}

ReductionTypes types_of(ReductionKind kind, Dtype dtype) {
  switch (kind) {
    case ReductionKind::And:
    case ReductionKind::Or:
      return {Dtype::Bool, Dtype::Bool};
    case ReductionKind::Sum:
    case ReductionKind::Prod:
      if (is_half(dtype)) {
        return {Dtype::Float32, dtype};
      }
      if (dtype < Dtype::Float16 && size_of(dtype) < 4) {
        const bool is_unsigned = dtype == Dtype::UInt8 || dtype == Dtype::UInt16;
        const Dtype wide = is_unsigned ? Dtype::UInt32 : Dtype::Int32;
        return {wide, wide};
      }
      return {dtype, dtype};
    case ReductionKind::Min:
    case ReductionKind::Max:
      break;
  }
  return {is_half(dtype) ? Dtype::Float32 : dtype, dtype};
}

std::int64_t length_of(const array& a, const std::vector<std::size_t>& axes) {
  std::int64_t length = 1;
  for (const std::size_t axis : axes) {
    length *= a.shape()[axis];
  }
  return length;
}

/// Kernels count rows and columns in 32 bits, and the parts into which long rows are cut.
void expect_lengths(const char* origin, const Shape& shape, std::size_t first, std::size_t last) {
  constexpr std::int64_t kMostResults = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostReduced = std::int64_t{1} << 45U;
  const evaluation::Segments all = evaluation::segments(shape, first, last);
  if (all.reduced > kMostReduced ||
      (all.reduced > 0 && all.outer > 0 && all.inner > kMostResults / all.outer)) {
    throw std::invalid_argument(
        fmt::format("[{}] axes {} to {} of the shape {}: up to {} elements can be reduced to each "
                    "of up to {} results",
                    origin, first, last - 1, graph::to_text(shape), kMostReduced, kMostResults));
  }
}

array without(const array& a, const std::vector<std::size_t>& axes) {
  const Axes gone(axes.begin(), axes.end());
  return squeeze(a, gone);
}

array reduce(
    ReductionKind kind, const array& a, const Axes& axes, bool keepdims, const StreamOrDevice& s) {
  const char* const origin = name_of(kind);
  const std::uint32_t stream = stream_number(s);
  const std::vector<std::size_t> positions = graph::checked_axes(origin, axes, a.ndim());
  if (a.dtype() == Dtype::Complex64 && (kind == ReductionKind::Min || kind == ReductionKind::Max)) {
    throw std::invalid_argument(
        fmt::format("[{}] elements of type complex64, which have no order", origin));
  }
  const bool has_identity = kind != ReductionKind::Min && kind != ReductionKind::Max;
  if (!has_identity && length_of(a, positions) == 0) {
    throw std::invalid_argument(fmt::format("[{}] no elements along the axes of the shape {}",
                                            origin, graph::to_text(a.shape())));
  }
  const LengthsScope lengths_are_repeated;
  const ReductionTypes types = types_of(kind, a.dtype());
  array result = a;
  if (!positions.empty()) {
    expect_joinable(origin, a);
  }
  if (kind == ReductionKind::And || kind == ReductionKind::Or) {
    result = convert(a, Dtype::Bool, stream);
  }
  if (positions.empty()) {
    return convert(result, types.result, stream);
  }
  // Runs of neighbouring axes, the last one first; halves stay float32 in between.
  std::size_t end = positions.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && positions[begin - 1] + 1 == positions[begin]) {
      --begin;
    }
    const Reduction run{kind, types.accumulator, positions[begin], positions[end - 1] + 1};
    expect_lengths(origin, result.shape(), run.first, run.last);
    result = reduce_run(result, run, begin == 0 ? types.result : types.accumulator, stream);
    end = begin;
  }
  return keepdims ? result : without(result, positions);
}

Axes all_axes(const array& a) {
  Axes axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

array mean_over(const array& a, const Axes& axes, bool keepdims, const StreamOrDevice& s) {
  const std::uint32_t stream = stream_number(s);
  const Dtype dtype = a.dtype() < Dtype::Float16 ? Dtype::Float32 : a.dtype();
  const std::int64_t count = length_of(a, graph::checked_axes("mean", axes, a.ndim()));
  expect_joinable("mean", a);
  // Halves are divided before they are rounded.
  const Dtype wide = is_half(dtype) ? Dtype::Float32 : dtype;
  const array total = sum(convert(a, wide, stream), axes, keepdims, s);
  return convert(divide(total, array(count, wide), s), dtype, stream);
}

array variance_over(const char* origin,
                    const array& a,
                    const Axes& axes,
                    bool keepdims,
                    int ddof,
                    const StreamOrDevice& s) {
  if (a.dtype() == Dtype::Complex64) {
    throw std::invalid_argument(
        fmt::format("[{}] elements of type complex64; possible are all other types", origin));
  }
  const std::vector<std::size_t> positions = graph::checked_axes(origin, axes, a.ndim());
  expect_joinable(origin, a);
  const std::uint32_t stream = stream_number(s);
  const Dtype dtype = a.dtype() < Dtype::Float16 ? Dtype::Float32 : a.dtype();
  const array x = convert(a, Dtype::Float32, stream);
  const array distance = subtract(x, mean_over(x, axes, true, s), s);
  const auto count = static_cast<double>(length_of(a, positions));
  const array total = sum(square(distance, s), axes, keepdims, s);
  const double divisor = std::max(count - ddof, 0.0);
  return convert(divide(total, array(divisor, Dtype::Float32), s), dtype, stream);
}

}  // namespace

const char* name_of(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::Sum:
      return "sum";
    case ReductionKind::Prod:
      return "prod";
    case ReductionKind::Min:
      return "min";
    case ReductionKind::Max:
      return "max";
    case ReductionKind::And:
      return "all";
    case ReductionKind::Or:
      return "any";
  }
  return "";
}

}  // namespace pewter::ops

namespace pewter {

#define PEWTER_REDUCTION(name, kind)                                              \
  array name(const array& a, const Axes& axes, bool keepdims, StreamOrDevice s) { \
    return ops::reduce(ops::ReductionKind::kind, a, axes, keepdims, s);           \
  }                                                                               \
  array name(const array& a, int axis, bool keepdims, StreamOrDevice s) {         \
    return name(a, Axes{axis}, keepdims, s);                                      \
  }                                                                               \
  array name(const array& a, bool keepdims, StreamOrDevice s) {                   \
    return name(a, ops::all_axes(a), keepdims, s);                                \
  }
PEWTER_REDUCTION(sum, Sum)
PEWTER_REDUCTION(prod, Prod)
PEWTER_REDUCTION(min, Min)
PEWTER_REDUCTION(max, Max)
PEWTER_REDUCTION(all, And)
PEWTER_REDUCTION(any, Or)
#undef PEWTER_REDUCTION

array mean(const array& a, const Axes& axes, bool keepdims, StreamOrDevice s) {
  return ops::mean_over(a, axes, keepdims, s);
}

array mean(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return ops::mean_over(a, {axis}, keepdims, s);
}

array mean(const array& a, bool keepdims, StreamOrDevice s) {
  return ops::mean_over(a, ops::all_axes(a), keepdims, s);
}

array var(const array& a, const Axes& axes, bool keepdims, int ddof, StreamOrDevice s) {
  return ops::variance_over("var", a, axes, keepdims, ddof, s);
}

array var(const array& a, int axis, bool keepdims, int ddof, StreamOrDevice s) {
  return ops::variance_over("var", a, {axis}, keepdims, ddof, s);
}

array var(const array& a, bool keepdims, int ddof, StreamOrDevice s) {
  return ops::variance_over("var", a, ops::all_axes(a), keepdims, ddof, s);
}

array std(const array& a, const Axes& axes, bool keepdims, int ddof, StreamOrDevice s) {
  return sqrt(ops::variance_over("std", a, axes, keepdims, ddof, s), s);
}

array std(const array& a, int axis, bool keepdims, int ddof, StreamOrDevice s) {
  return sqrt(ops::variance_over("std", a, {axis}, keepdims, ddof, s), s);
}

array std(const array& a, bool keepdims, int ddof, StreamOrDevice s) {
  return sqrt(ops::variance_over("std", a, ops::all_axes(a), keepdims, ddof, s), s);
}

}  // namespace pewter
