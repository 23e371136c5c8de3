#include <fmt/core.h>
#include <pewter/ops.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "pewter/array/graph/shape.h"

namespace pewter {
namespace {

bool is_floating(Dtype dtype) {
  return dtype >= Dtype::Float16 && dtype <= Dtype::Float32;
}

float greatest(Dtype dtype) {
  if (dtype == Dtype::Float16) {
    return 65504.0F;
  }
  return dtype == Dtype::BFloat16 ? 0x1.fep127F : std::numeric_limits<float>::max();
}

/// The greatest number of an integer type.
std::uint64_t greatest_integer(Dtype dtype) {
  const std::uint64_t all = UINT64_MAX >> (64U - 8U * static_cast<unsigned>(size_of(dtype)));
  return dtype >= Dtype::Int8 ? all >> 1U : all;
}

/// To multiples of a power of ten, in the integers' own type.
array rounded_integers(const array& a, int decimals, const StreamOrDevice& s) {
  const std::uint64_t most = greatest_integer(a.dtype());
  std::uint64_t unit = 1;
  for (int i = 0; i > decimals; --i) {
    if (unit > most / 10) {
      return zeros_like(a, s);
    }
    unit *= 10;
  }
  const array step(unit, a.dtype());
  const array half(unit / 2, a.dtype());
  const array one(1, a.dtype());
  const array below = floor_divide(a, step, s);
  const array rest = remainder(a, step, s);
  const array is_odd = equal(bitwise_and(below, one, s), one, s);
  const array goes_up =
      logical_or(greater(rest, half, s), logical_and(equal(rest, half, s), is_odd, s), s);
  return multiply(add(below, astype(goes_up, a.dtype(), s), s), step, s);
}

Axes every_axis(const array& a) {
  Axes axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

array clip(const array& a,
           const std::optional<array>& low,
           const std::optional<array>& high,
           StreamOrDevice s) {
  if (!low && !high) {
    throw std::invalid_argument("[clip] neither a lower nor an upper limit");
  }
  array result = low ? maximum(a, *low, s) : a;
  return high ? minimum(result, *high, s) : result;
}

array round(const array& a, int decimals, StreamOrDevice s) {
  if (decimals < 0 && a.dtype() >= Dtype::UInt8 && a.dtype() <= Dtype::Int64) {
    return rounded_integers(a, decimals, s);
  }
  if (decimals == 0 || !is_floating(a.dtype())) {
    return rint(a, s);
  }
  const float scale = std::pow(10.0F, static_cast<float>(std::abs(decimals)));
  const array factor(scale, a.dtype());
  return decimals > 0 ? divide(rint(multiply(a, factor, s), s), factor, s)
                      : multiply(rint(divide(a, factor, s), s), factor, s);
}

array nan_to_num(const array& a,
                 float nan,
                 std::optional<float> positive,
                 std::optional<float> negative,
                 StreamOrDevice s) {
  if (!is_floating(a.dtype())) {
    return a;
  }
  const Dtype dtype = a.dtype();
  array result = where(isnan(a, s), array(nan, dtype), a, s);
  result = where(isposinf(a, s), array(positive.value_or(greatest(dtype)), dtype), result, s);
  return where(isneginf(a, s), array(negative.value_or(-greatest(dtype)), dtype), result, s);
}

std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s) {
  return {floor_divide(a, b, s), remainder(a, b, s)};
}

array isclose(
    const array& a, const array& b, double rtol, double atol, bool equal_nan, StreamOrDevice s) {
  Dtype dtype = promote_types(a.dtype(), b.dtype());
  dtype = dtype < Dtype::Float16 ? Dtype::Float32 : dtype;
  const array x = astype(a, dtype, s);
  const array y = astype(b, dtype, s);
  const array size = abs(y, s);
  const array limit =
      add(array(atol, size.dtype()), multiply(array(rtol, size.dtype()), size, s), s);
  const array distance = abs(subtract(x, y, s), s);
  // Infinities are close to themselves alone.
  const array both_finite = logical_and(isfinite(x, s), isfinite(y, s), s);
  array result =
      logical_or(equal(x, y, s), logical_and(both_finite, less_equal(distance, limit, s), s), s);
  if (equal_nan) {
    result = logical_or(result, logical_and(isnan(x, s), isnan(y, s), s), s);
  }
  return result;
}

array allclose(
    const array& a, const array& b, double rtol, double atol, bool equal_nan, StreamOrDevice s) {
  return all(isclose(a, b, rtol, atol, equal_nan, s), false, s);
}

array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s) {
  if (a.shape() != b.shape()) {
    return array(false);
  }
  array result = equal(a, b, s);
  if (equal_nan) {
    result = logical_or(result, logical_and(isnan(a, s), isnan(b, s), s), s);
  }
  return all(result, false, s);
}

array logsumexp(const array& a, const Axes& axes, bool keepdims, StreamOrDevice s) {
  if (a.dtype() == Dtype::Complex64) {
    throw std::invalid_argument("[logsumexp] elements of type complex64; possible are all others");
  }
  for (const std::size_t axis : graph::checked_axes("logsumexp", axes, a.ndim())) {
    if (a.shape()[axis] == 0) {
      throw std::invalid_argument(
          fmt::format("[logsumexp] no elements along axis {} of the shape {}", axis,
                      graph::to_text(a.shape())));
    }
  }
  const Dtype dtype = a.dtype() < Dtype::Float16 ? Dtype::Float32 : a.dtype();
  const array x = astype(a, Dtype::Float32, s);
  const array high = max(x, axes, true, s);
  // A row of infinities of one sign: their difference would be NaN.
  const array shift = where(isfinite(high, s), high, array(0.0F), s);
  const array total = sum(exp(subtract(x, shift, s), s), axes, true, s);
  array result = add(log(total, s), shift, s);
  result = keepdims ? result : squeeze(result, axes, s);
  return astype(result, dtype, s);
}

array logsumexp(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return logsumexp(a, Axes{axis}, keepdims, s);
}

array logsumexp(const array& a, bool keepdims, StreamOrDevice s) {
  return logsumexp(a, every_axis(a), keepdims, s);
}

}  // namespace pewter
