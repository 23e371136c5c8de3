#include <fmt/core.h>
#include <pewter/ops.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/single_output.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

/// As kernels/quantized.metal has it.
struct Extent {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t inner;
  std::uint32_t group_size;
};

constexpr std::size_t kGroup = 64;
constexpr std::size_t kLanes = 32;
/// From so many rows of x on it pays to unpack the matrix once.
constexpr std::size_t kManyRows = 16;

class QuantizedMatmul final : public ops::SingleOutput {
 public:
  QuantizedMatmul(Dtype dtype, int bits, bool transpose, const Extent& extent)
      : kernel_(fmt::format(
            "quantized_{}_{}_{}", transpose ? "rows" : "columns", name_of(dtype), bits)),
        bits_(bits),
        transpose_(transpose),
        extent_(extent) {}

  std::string_view name() const override { return "quantized_matmul"; }

  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const auto kernel = ops::shipped_kernel("quantized.metal", kernel_);
    ops::KernelCall call(stream, *kernel);
    for (const graph::NodePointer& input : inputs) {
      call.input(*input);
    }
    call.output(out).value(extent_);
    const MTL::Size elements(extent_.columns, extent_.rows, 1);
    if (transpose_) {
      call.dispatch_groups(elements, MTL::Size(kLanes, 1, 1));
    } else {
      call.dispatch_threads(elements, MTL::Size(kGroup, 1, 1));
    }
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {quantized_matmul(inputs[0], inputs[1], inputs[2], inputs[3], transpose_,
                             static_cast<int>(extent_.group_size), bits_)};
  }

 private:
  std::string kernel_;
  int bits_;
  bool transpose_;
  Extent extent_;
};

class Dequantize final : public ops::SingleOutput {
 public:
  Dequantize(Dtype dtype, int bits, int group_size)
      : kernel_(fmt::format("quantized_unpack_{}_{}", name_of(dtype), bits)),
        bits_(bits),
        group_size_(static_cast<std::uint32_t>(group_size)) {}

  std::string_view name() const override { return "dequantize"; }

  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const auto kernel = ops::shipped_kernel("quantized.metal", kernel_);
    ops::KernelCall call(stream, *kernel);
    for (const graph::NodePointer& input : inputs) {
      call.input(*input);
    }
    call.output(out).value(group_size_);
    call.dispatch_threads(MTL::Size(inputs[0]->size, 1, 1), MTL::Size(kGroup, 1, 1));
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {dequantize(inputs[0], inputs[1], inputs[2], static_cast<int>(group_size_), bits_)};
  }

 private:
  std::string kernel_;
  int bits_;
  std::uint32_t group_size_;
};

void expect_format(const char* origin, int group_size, int bits) {
  if (group_size != 32 && group_size != 64 && group_size != 128) {
    throw std::invalid_argument(
        fmt::format("[{}] groups of {} elements; possible are 32, 64 and 128", origin, group_size));
  }
  if (bits != 2 && bits != 4 && bits != 8) {
    throw std::invalid_argument(
        fmt::format("[{}] elements of {} bits; possible are 2, 4 and 8", origin, bits));
  }
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::Float32 || dtype == Dtype::Float16 || dtype == Dtype::BFloat16;
}

/// The places of a word's elements in it.
array shifts(int bits) {
  std::vector<std::uint32_t> places;
  for (int at = 0; at < 32; at += bits) {
    places.push_back(static_cast<std::uint32_t>(at));
  }
  return array(places, Placement::Host);
}

Shape with_last(Shape shape, std::initializer_list<std::int64_t> last) {
  shape.pop_back();
  shape.insert(shape.end(), last);
  return shape;
}

/// Checks that the three parts of a quantized matrix belong together. Returns the length of its
/// rows.
std::int64_t expect_parts(const char* origin,
                          const array& w,
                          const array& scales,
                          const array& biases,
                          int group_size,
                          int bits) {
  expect_format(origin, group_size, bits);
  if (w.dtype() != Dtype::UInt32 || w.ndim() < 2) {
    throw std::invalid_argument(
        fmt::format("[{}] a quantized matrix of {}; it is uint32 and has at least 2 axes", origin,
                    w.description()));
  }
  const std::int64_t inner = w.shape().back() * (32 / bits);
  if (inner % group_size != 0) {
    throw std::invalid_argument(fmt::format(
        "[{}] a quantized matrix {} has rows of {} elements of {} bits, which groups of "
        "{} do not fill",
        origin, w.description(), inner, bits, group_size));
  }
  const Shape expected = with_last(w.shape(), {inner / group_size});
  if (scales.shape() != expected || biases.shape() != expected ||
      scales.dtype() != biases.dtype() || !is_floating(scales.dtype())) {
    throw std::invalid_argument(fmt::format(
        "[{}] scales {} and biases {} for a matrix {} with groups of {}: both must have the shape "
        "{} and one floating-point type",
        origin, scales.description(), biases.description(), w.description(), group_size,
        graph::to_text(expected)));
  }
  return inner;
}

}  // namespace

std::vector<array> quantize(const array& w, int group_size, int bits, StreamOrDevice s) {
  expect_format("quantize", group_size, bits);
  if (!is_floating(w.dtype()) || w.ndim() < 2 || w.shape().back() % group_size != 0) {
    throw std::invalid_argument(fmt::format(
        "[quantize] {}: a floating-point array of at least 2 axes is needed, the last a "
        "multiple of {}",
        w.description(), group_size));
  }
  const std::int64_t length = w.shape().back();
  const int per_word = 32 / bits;
  const float most = static_cast<float>((1U << static_cast<unsigned>(bits)) - 1U);
  const array groups = reshape(astype(w, Dtype::Float32, s),
                               with_last(w.shape(), {length / group_size, group_size}), s);

  // The end of the range that is farther from 0 must be met exactly, and 0 as well as it can be.
  const array greatest = max(groups, -1, true, s);
  const array least = min(groups, -1, true, s);
  const array is_low = greater(abs(least, s), abs(greatest, s), s);
  const array step = maximum(divide(subtract(greatest, least, s), array(most), s), array(1e-7F), s);
  const array signed_step = where(is_low, step, negative(step, s), s);
  const array edge = where(is_low, least, greatest, s);
  const array zero_at = round(divide(edge, signed_step, s), 0, s);
  const array has_zero = not_equal(zero_at, array(0.0F), s);
  const array scale = where(has_zero, divide(edge, zero_at, s), signed_step, s);
  const array bias = where(has_zero, edge, array(0.0F), s);

  const array levels =
      clip(round(divide(subtract(groups, bias, s), scale, s), 0, s), array(0.0F), array(most), s);
  const array words = reshape(astype(levels, Dtype::UInt32, s),
                              with_last(w.shape(), {length / per_word, per_word}), s);
  const array packed =
      astype(sum(left_shift(words, shifts(bits), s), -1, false, s), Dtype::UInt32, s);
  return {packed, astype(squeeze(scale, -1, s), w.dtype(), s),
          astype(squeeze(bias, -1, s), w.dtype(), s)};
}

array dequantize(const array& w,
                 const array& scales,
                 const array& biases,
                 int group_size,
                 int bits,
                 StreamOrDevice s) {
  const std::int64_t length = expect_parts("dequantize", w, scales, biases, group_size, bits);
  graph::expect_dispatchable("dequantize", static_cast<std::int64_t>(w.size()));
  return array(
      graph::make_computed(with_last(w.shape(), {length}), scales.dtype(),
                           std::make_shared<Dequantize>(scales.dtype(), bits, group_size),
                           {contiguous(w, s).node_pointer(), contiguous(scales, s).node_pointer(),
                            contiguous(biases, s).node_pointer()},
                           ops::stream_number(s)));
}

array quantized_matmul(const array& x,
                       const array& w,
                       const array& scales,
                       const array& biases,
                       bool transpose,
                       int group_size,
                       int bits,
                       StreamOrDevice s) {
  const std::int64_t length = expect_parts("quantized_matmul", w, scales, biases, group_size, bits);
  const std::int64_t rows_of_w = w.shape()[w.ndim() - 2];
  const std::int64_t inner = transpose ? length : rows_of_w;
  if (x.ndim() < 1 || x.shape().back() != inner) {
    throw std::invalid_argument(fmt::format(
        "[quantized_matmul] shapes {} and {}{}: the last axis of the first must be {} long",
        graph::to_text(x.shape()), graph::to_text(w.shape()), transpose ? " transposed" : "",
        inner));
  }
  const std::int64_t columns = transpose ? rows_of_w : length;
  const std::size_t rows = inner > 0 ? x.size() / static_cast<std::size_t>(inner) : 0;
  const Dtype dtype = promote_types(x.dtype(), scales.dtype());
  if (dtype == Dtype::Complex64) {
    throw std::invalid_argument("[quantized_matmul] elements of type complex64");
  }
  const array left = astype(x, dtype, s);
  const array scale = astype(scales, dtype, s);
  const array bias = astype(biases, dtype, s);
  if (rows >= kManyRows || rows == 0 || w.ndim() > 2) {
    const array matrix = dequantize(w, scale, bias, group_size, bits, s);
    return matmul(left, transpose ? swapaxes(matrix, -1, -2, s) : matrix, s);
  }
  const Extent extent{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns),
                      static_cast<std::uint32_t>(inner), static_cast<std::uint32_t>(group_size)};
  return array(graph::make_computed(
      with_last(x.shape(), {columns}), dtype,
      std::make_shared<QuantizedMatmul>(dtype, bits, transpose, extent),
      {contiguous(left, s).node_pointer(), contiguous(w, s).node_pointer(),
       contiguous(scale, s).node_pointer(), contiguous(bias, s).node_pointer()},
      ops::stream_number(s)));
}

}  // namespace pewter
