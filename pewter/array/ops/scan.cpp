#include <fmt/core.h>
#include <pewter/ops.h>

#include <cstdint>
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

// Rows shorter than a simdgroup go to one thread each.
constexpr std::int64_t kShortRow = 32;

/// As kernels/scan.metal has it.
struct Scan {
  std::uint32_t length;
  std::uint32_t inner;
  std::uint32_t is_reverse;
  std::uint32_t is_exclusive;
};

/// As kernels/arg_reduce.metal has it.
struct ArgSegments {
  std::uint32_t outer;
  std::uint32_t reduced;
  std::uint32_t inner;
  std::uint32_t is_max;
};

bool is_long(Dtype dtype) {
  return dtype == Dtype::Int64 || dtype == Dtype::UInt64;
}

evaluation::Segments around(const graph::Node& node, std::size_t axis) {
  return evaluation::segments(node.shape, axis, axis + 1);
}

/// A thread for each column, in groups along x.
void dispatch_columns(ops::KernelCall& call, const evaluation::Segments& all) {
  const auto inner = static_cast<NS::UInteger>(all.inner);
  const NS::UInteger width = inner >= 256 ? 256 : (inner + 31) / 32 * 32;
  call.dispatch_groups(
      MTL::Size((inner + width - 1) / width, static_cast<NS::UInteger>(all.outer), 1),
      MTL::Size(width, 1, 1));
}

class ScanPrimitive final : public graph::Primitive {
 public:
  ScanPrimitive(const char* name, int axis, bool reverse, bool inclusive)
      : name_(name), axis_(axis), reverse_(reverse), inclusive_(inclusive) {}
  std::string_view name() const override { return name_; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    // A thread writes to places that it alone has read.
    graph::take_memory(out, *inputs[0]);
    if (out.size == 0) {
      return;
    }
    evaluation::Segments all = around(out, static_cast<std::size_t>(axis_));
    const bool by_rows = all.inner == 1 && all.reduced >= kShortRow && size_of(out.dtype) < 8;
    const auto kernel = ops::shipped_kernel(
        "scan.metal",
        fmt::format("{}_{}_{}", name_, by_rows ? "rows" : "columns", name_of(out.dtype)));
    const Scan scan = {static_cast<std::uint32_t>(all.reduced),
                       static_cast<std::uint32_t>(all.inner), reverse_ ? 1U : 0U,
                       inclusive_ ? 0U : 1U};
    ops::KernelCall call(stream, *kernel);
    call.input(*inputs[0]).output(out).value(scan);
    if (by_rows) {
      call.dispatch_groups(MTL::Size(static_cast<NS::UInteger>(all.outer), 1, 1),
                           MTL::Size(32, 1, 1));
    } else {
      dispatch_columns(call, all);
    }
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {make(name_, inputs[0], axis_, reverse_, inclusive_, stream)};
  }

  static array make(const char* name,
                    const array& a,
                    int axis,
                    bool reverse,
                    bool inclusive,
                    std::uint32_t stream) {
    const array input = ops::row_contiguous(a, stream);
    return array(
        graph::make_computed(input.shape(), input.dtype(),
                             std::make_shared<ScanPrimitive>(name, axis, reverse, inclusive),
                             {input.node_pointer()}, stream));
  }

 private:
  const char* name_;
  int axis_;
  bool reverse_;
  bool inclusive_;
};

/// The ends of integer types of 8 and 16 bits, and of bool.
std::int32_t highest(Dtype dtype) {
  if (dtype == Dtype::Bool) {
    return 1;
  }
  const std::int32_t all = size_of(dtype) == 1 ? UINT8_MAX : UINT16_MAX;
  return dtype >= Dtype::Int8 ? all / 2 : all;
}
std::int32_t lowest(Dtype dtype) {
  return dtype >= Dtype::Int8 ? -highest(dtype) - 1 : 0;
}

void expect_segments(const char* origin, const array& a, std::size_t axis) {
  const evaluation::Segments all = evaluation::segments(a.shape(), axis, axis + 1);
  graph::expect_countable(origin, all.reduced);
  graph::expect_dispatchable(origin, all.outer);
  graph::expect_dispatchable(origin, all.inner);
}

array scan(const char* name,
           const array& a,
           int axis,
           bool reverse,
           bool inclusive,
           const StreamOrDevice& s) {
  const std::uint32_t stream = ops::stream_number(s);
  const std::size_t position = graph::checked_axis(name, axis, a.ndim());
  const bool is_extreme = name[3] == 'm';
  if (a.dtype() == Dtype::Complex64 && is_extreme) {
    throw std::invalid_argument(fmt::format("[{}] elements of type complex64", name));
  }
  expect_segments(name, a, position);
  ops::expect_joinable(name, a);
  // Small integers are added up in 32 bits; of extremes they stay what they are.
  const bool is_small = a.dtype() < Dtype::Float16 && size_of(a.dtype()) < 4;
  const bool is_unsigned = a.dtype() == Dtype::UInt8 || a.dtype() == Dtype::UInt16;
  const Dtype computed = !is_small ? a.dtype() : is_unsigned ? Dtype::UInt32 : Dtype::Int32;
  const array wide = ops::viewable(ops::convert(a, computed, stream));
  array result =
      ScanPrimitive::make(name, wide, static_cast<int>(position), reverse, inclusive, stream);
  if (!is_extreme || !is_small) {
    return result;
  }
  // Where nothing precedes an element stands the end of the type in which it was computed.
  const array within = name[4] == 'a' ? maximum(result, array(lowest(a.dtype()), computed), s)
                                      : minimum(result, array(highest(a.dtype()), computed), s);
  return ops::convert(inclusive ? result : within, a.dtype(), stream);
}

class ArgReducePrimitive final : public ops::SingleOutput {
 public:
  ArgReducePrimitive(int axis, bool is_max) : axis_(axis), is_max_(is_max) {}
  std::string_view name() const override { return is_max_ ? "argmax" : "argmin"; }
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const graph::Node& in = *inputs[0];
    const evaluation::Segments all = around(in, static_cast<std::size_t>(axis_));
    const bool by_rows = all.inner == 1 && all.reduced >= kShortRow && !is_long(in.dtype);
    const auto kernel = ops::shipped_kernel(
        "arg_reduce.metal",
        fmt::format("arg_{}_{}", by_rows ? "rows" : "columns", name_of(in.dtype)));
    const ArgSegments segments = {static_cast<std::uint32_t>(all.outer),
                                  static_cast<std::uint32_t>(all.reduced),
                                  static_cast<std::uint32_t>(all.inner), is_max_ ? 1U : 0U};
    ops::KernelCall call(stream, *kernel);
    call.input(in).output(out).value(segments);
    if (by_rows) {
      call.dispatch_groups(MTL::Size(static_cast<NS::UInteger>(all.outer), 1, 1),
                           MTL::Size(32, 1, 1));
    } else {
      dispatch_columns(call, all);
    }
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {make(inputs[0], axis_, is_max_, stream)};
  }

  /// The axis stays, with length 1.
  static array make(const array& a, int axis, bool is_max, std::uint32_t stream) {
    const array input = ops::row_contiguous(a, stream);
    Shape shape = input.shape();
    shape[static_cast<std::size_t>(axis)] = 1;
    return array(graph::make_computed(std::move(shape), Dtype::UInt32,
                                      std::make_shared<ArgReducePrimitive>(axis, is_max),
                                      {input.node_pointer()}, stream));
  }

 private:
  int axis_;
  bool is_max_;
};

array arg_reduce(bool is_max, const array& a, int axis, bool keepdims, const StreamOrDevice& s) {
  const char* const origin = is_max ? "argmax" : "argmin";
  const std::size_t position = graph::checked_axis(origin, axis, a.ndim());
  if (a.dtype() == Dtype::Complex64) {
    throw std::invalid_argument(
        fmt::format("[{}] elements of type complex64, which have no order", origin));
  }
  expect_segments(origin, a, position);
  if (a.shape()[position] == 0) {
    throw std::invalid_argument(fmt::format("[{}] no elements along axis {} of the shape {}",
                                            origin, axis, graph::to_text(a.shape())));
  }
  ops::expect_joinable(origin, a);
  const array result =
      ArgReducePrimitive::make(a, static_cast<int>(position), is_max, ops::stream_number(s));
  return keepdims ? result : squeeze(result, static_cast<int>(position), s);
}

array arg_reduce_all(bool is_max, const array& a, bool keepdims, const StreamOrDevice& s) try {
  const array result = arg_reduce(is_max, reshape(a, {-1}, s), 0, true, s);
  return reshape(result, keepdims ? Shape(a.ndim(), 1) : Shape{}, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of(is_max ? "argmax" : "argmin", refusal);
}

}  // namespace

array cumsum(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  return scan("cumsum", a, axis, reverse, inclusive, s);
}

array cumprod(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  return scan("cumprod", a, axis, reverse, inclusive, s);
}

array cummax(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  return scan("cummax", a, axis, reverse, inclusive, s);
}

array cummin(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  return scan("cummin", a, axis, reverse, inclusive, s);
}

array argmin(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return arg_reduce(false, a, axis, keepdims, s);
}

array argmin(const array& a, bool keepdims, StreamOrDevice s) {
  return arg_reduce_all(false, a, keepdims, s);
}

array argmax(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return arg_reduce(true, a, axis, keepdims, s);
}

array argmax(const array& a, bool keepdims, StreamOrDevice s) {
  return arg_reduce_all(true, a, keepdims, s);
}

}  // namespace pewter
