#include <fmt/core.h>
#include <pewter/ops.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/refusal.h"
#include "pewter/array/ops/single_output.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

/// Repeats one element, or one smaller array, over a shape.
class FillPrimitive final : public graph::Primitive {
 public:
  explicit FillPrimitive(Shape shape) : shape_(std::move(shape)) {}
  std::string_view name() const override { return "full"; }
  const ops::Elementwise* elementwise() const override { return &ops::conversion_row(); }
  void encode(runtime::Stream&,
              std::span<const graph::NodePointer>,
              std::span<graph::Node* const>) const override {
    throw std::logic_error("full has no kernel of its own");
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {array(graph::make_computed(shape_, inputs[0].dtype(),
                                       std::make_shared<FillPrimitive>(shape_),
                                       {inputs[0].node_pointer()}, stream))};
  }

 private:
  Shape shape_;
};

/// As kernels/creation.metal has it.
struct Progression {
  float start;
  float step;
  std::int64_t whole_start;
  std::int64_t whole_step;
  std::uint64_t count;
};

class ProgressionPrimitive final : public ops::SingleOutput {
 public:
  explicit ProgressionPrimitive(Progression progression) : progression_(progression) {}
  std::string_view name() const override { return "arange"; }
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer>,
                   graph::Node& out) const override {
    const auto kernel =
        ops::shipped_kernel("creation.metal", fmt::format("progression_{}", name_of(out.dtype)));
    ops::KernelCall(stream, *kernel)
        .output(out)
        .value(progression_)
        .dispatch_groups(MTL::Size((out.size + 255) / 256, 1, 1), MTL::Size(256, 1, 1));
  }
  std::vector<array> apply(const std::vector<array>& /*inputs*/,
                           std::uint32_t stream) const override {
    return {make(progression_, dtype_, stream)};
  }

  static array make(const Progression& progression, Dtype dtype, std::uint32_t stream) {
    auto primitive = std::make_shared<ProgressionPrimitive>(progression);
    primitive->dtype_ = dtype;
    return array(graph::make_computed({static_cast<std::int64_t>(progression.count)}, dtype,
                                      std::move(primitive), {}, stream));
  }

 private:
  Progression progression_;
  Dtype dtype_ = Dtype::Float32;
};

/// A double as kernels/creation.metal has it.
struct Double {
  std::uint64_t digits;
  std::int32_t exponent;
  std::uint32_t is_negative;
};

Double parts_of(double number) {
  constexpr int kDigits = std::numeric_limits<double>::digits;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  return {static_cast<std::uint64_t>(std::ldexp(fraction, kDigits)), exponent - kDigits,
          std::signbit(number) ? 1U : 0U};
}

/// As kernels/creation.metal has it.
struct Spaced {
  Double start;
  Double step;
  Double last;
  std::uint64_t count;
};

class SpacedPrimitive final : public ops::SingleOutput {
 public:
  SpacedPrimitive(const Spaced& spaced, Dtype dtype) : spaced_(spaced), dtype_(dtype) {}
  std::string_view name() const override { return "linspace"; }
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer>,
                   graph::Node& out) const override {
    const auto kernel =
        ops::shipped_kernel("creation.metal", fmt::format("spaced_{}", name_of(out.dtype)));
    ops::KernelCall(stream, *kernel).output(out).value(spaced_).dispatch_rows(out.size, 1, 1);
  }
  std::vector<array> apply(const std::vector<array>& /*inputs*/,
                           std::uint32_t stream) const override {
    return {make(spaced_, dtype_, stream)};
  }

  static array make(const Spaced& spaced, Dtype dtype, std::uint32_t stream) {
    return array(graph::make_computed({static_cast<std::int64_t>(spaced.count)}, dtype,
                                      std::make_shared<SpacedPrimitive>(spaced, dtype), {},
                                      stream));
  }

 private:
  Spaced spaced_;
  Dtype dtype_;
};

std::uint64_t progression_count(double start, double stop, double step) {
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step) || step == 0) {
    throw std::invalid_argument(
        fmt::format("[arange] from {} to {} in steps of {}: numbers must be finite, and the step "
                    "not 0",
                    start, stop, step));
  }
  const double count = std::max(std::ceil((stop - start) / step), 0.0);
  if (count > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument(fmt::format("[arange] {} elements; at most {} are possible", count,
                                            std::numeric_limits<std::int32_t>::max()));
  }
  return static_cast<std::uint64_t>(count);
}

/// Without its fraction, and modulo 2^64, as kernels count.
std::int64_t whole(double number) {
  constexpr double kMost = 0x1p64 - 2048;
  return number < 0
             ? static_cast<std::int64_t>(std::max(number, -0x1p63))
             : static_cast<std::int64_t>(static_cast<std::uint64_t>(std::min(number, kMost)));
}

array from_number(Shape shape, double number, Dtype dtype, StreamOrDevice s) {
  return full(std::move(shape), array(number, dtype), dtype, s);
}

/// The diagonal on which each element stands: its column less its row, which never overflows.
array diagonals(std::int64_t rows, std::int64_t columns, StreamOrDevice s) {
  const array row = expand_dims(arange(static_cast<int>(rows), s), 1, s);
  return subtract(arange(static_cast<int>(columns), s), row, s);
}

void expect_lengths(const char* origin, int rows, int columns) {
  if (rows < 0 || columns < 0) {
    throw std::invalid_argument(
        fmt::format("[{}] {} rows and {} columns; at least 0 are possible", origin, rows, columns));
  }
}

}  // namespace

array full(Shape shape, const array& value, Dtype dtype, StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  const array converted = ops::convert(value, dtype, stream);
  if (graph::broadcast_shape("full", converted.shape(), shape) != shape) {
    throw std::invalid_argument(fmt::format("[full] a value of shape {} for the shape {}",
                                            graph::to_text(value.shape()), graph::to_text(shape)));
  }
  auto primitive = std::make_shared<FillPrimitive>(shape);
  return array(graph::make_computed(std::move(shape), dtype, std::move(primitive),
                                    {converted.node_pointer()}, stream));
}

array full(Shape shape, const array& value, StreamOrDevice s) {
  return full(std::move(shape), value, value.dtype(), s);
}

array zeros(const Shape& shape, Dtype dtype, StreamOrDevice s) {
  return from_number(shape, 0, dtype, s);
}

array ones(const Shape& shape, Dtype dtype, StreamOrDevice s) {
  return from_number(shape, 1, dtype, s);
}

array zeros_like(const array& a, StreamOrDevice s) {
  return zeros(a.shape(), a.dtype(), s);
}

array ones_like(const array& a, StreamOrDevice s) {
  return ones(a.shape(), a.dtype(), s);
}

array arange(double start, double stop, double step, Dtype dtype, StreamOrDevice s) {
  if (dtype == Dtype::Bool || dtype == Dtype::Complex64) {
    throw std::invalid_argument(fmt::format(
        "[arange] type {}; possible are the integer and floating-point types", name_of(dtype)));
  }
  Progression progression = {};
  progression.count = progression_count(start, stop, step);
  progression.start = static_cast<float>(start);
  progression.step = static_cast<float>(step);
  progression.whole_start = whole(start);
  // The first two numbers lose their fractions and tell the step, as NumPy and MLX have it.
  const bool is_whole = std::trunc(start) == start && std::trunc(step) == step;
  progression.whole_step = is_whole ? whole(step) : whole(start + step) - whole(start);
  return ProgressionPrimitive::make(progression, dtype, ops::stream_number(s));
}

array arange(int stop, StreamOrDevice s) {
  return arange(0, stop, 1, Dtype::Int32, s);
}

array arange(int start, int stop, int step, StreamOrDevice s) {
  return arange(start, stop, step, Dtype::Int32, s);
}

array linspace(double start, double stop, int count, Dtype dtype, StreamOrDevice s) {
  if (count < 0) {
    throw std::invalid_argument(fmt::format("[linspace] {} elements", count));
  }
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(stop - start)) {
    throw std::invalid_argument(fmt::format(
        "[linspace] from {} to {}: both and their distance must be finite", start, stop));
  }
  const bool is_number = dtype != Dtype::Bool && dtype != Dtype::Complex64;
  const double step = count > 1 ? (stop - start) / (count - 1) : 0;
  const Spaced spaced = {parts_of(start), parts_of(step), parts_of(count > 1 ? stop : start),
                         static_cast<std::uint64_t>(count)};
  const array numbers =
      SpacedPrimitive::make(spaced, is_number ? dtype : Dtype::Float32, ops::stream_number(s));
  return astype(numbers, dtype, s);
}

array eye(int rows, int columns, int k, Dtype dtype, StreamOrDevice s) {
  expect_lengths("eye", rows, columns);
  return astype(equal(diagonals(rows, columns, s), array(k), s), dtype, s);
}

array eye(int n, Dtype dtype, StreamOrDevice s) {
  return eye(n, n, 0, dtype, s);
}

array identity(int n, Dtype dtype, StreamOrDevice s) try {
  return eye(n, n, 0, dtype, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("identity", refusal);
}

array tri(int rows, int columns, int k, Dtype dtype, StreamOrDevice s) {
  expect_lengths("tri", rows, columns);
  return astype(less_equal(diagonals(rows, columns, s), array(k), s), dtype, s);
}

array tril(const array& a, int k, StreamOrDevice s) try {
  if (a.ndim() < 2) {
    throw std::invalid_argument(fmt::format("[tril] an array of rank {}; needs 2", a.ndim()));
  }
  const array mask =
      less_equal(diagonals(a.shape()[a.ndim() - 2], a.shape().back(), s), array(k), s);
  return where(mask, a, array(0, a.dtype()), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("tril", refusal);
}

array triu(const array& a, int k, StreamOrDevice s) try {
  if (a.ndim() < 2) {
    throw std::invalid_argument(fmt::format("[triu] an array of rank {}; needs 2", a.ndim()));
  }
  const array mask =
      greater_equal(diagonals(a.shape()[a.ndim() - 2], a.shape().back(), s), array(k), s);
  return where(mask, a, array(0, a.dtype()), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("triu", refusal);
}

}  // namespace pewter
