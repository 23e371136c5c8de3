#include <fmt/core.h>
#include <pewter/ops.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/refusal.h"

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

/// To fractions or multiples of a power of ten, in float32.
array rounded_floats(const array& a, int decimals, const StreamOrDevice& s) {
  constexpr int kGreatestPower = std::numeric_limits<float>::max_exponent10;
  if (decimals > kGreatestPower) {
    return a;
  }
  const array x = astype(a, Dtype::Float32, s);
  if (decimals < -kGreatestPower) {
    return astype(where(isfinite(x, s), array(0.0F), x, s), a.dtype(), s);
  }
  const array factor(std::pow(10.0F, static_cast<float>(std::abs(decimals))));
  if (decimals < 0) {
    return astype(multiply(rint(divide(x, factor, s), s), factor, s), a.dtype(), s);
  }
  // What becomes too large has no digits behind the point.
  const array scaled = multiply(x, factor, s);
  const array rounded = where(isfinite(scaled, s), divide(rint(scaled, s), factor, s), x, s);
  return astype(rounded, a.dtype(), s);
}

/// The unsigned type of as many bytes.
Dtype unsigned_of(Dtype dtype) {
  switch (size_of(dtype)) {
    case 1:
      return Dtype::UInt8;
    case 2:
      return Dtype::UInt16;
    case 4:
      return Dtype::UInt32;
    default:
      return Dtype::UInt64;
  }
}

/// |a - b|, as float32 or the type of both. That of whole numbers may be one that only the unsigned
/// type has.
array distance_of(const array& a, const array& b, const StreamOrDevice& s) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  if (dtype >= Dtype::Float16) {
    return abs(subtract(a, b, s), s);
  }
  const array high = astype(maximum(a, b, s), unsigned_of(dtype), s);
  const array low = astype(minimum(a, b, s), unsigned_of(dtype), s);
  return astype(subtract(high, low, s), Dtype::Float32, s);
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
           StreamOrDevice s) try {
  if (!low && !high) {
    throw std::invalid_argument("[clip] neither a lower nor an upper limit");
  }
  array result = low ? maximum(a, *low, s) : a;
  return high ? minimum(result, *high, s) : result;
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("clip", refusal);
}

array round(const array& a, int decimals, StreamOrDevice s) try {
  if (decimals < 0 && a.dtype() >= Dtype::UInt8 && a.dtype() <= Dtype::Int64) {
    return rounded_integers(a, decimals, s);
  }
  if (a.dtype() == Dtype::Complex64) {
    const array parts = view(reshape(a, {-1}, s), Dtype::Float32, s);
    return reshape(view(round(parts, decimals, s), Dtype::Complex64, s), a.shape(), s);
  }
  return decimals == 0 || !is_floating(a.dtype()) ? rint(a, s) : rounded_floats(a, decimals, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("round", refusal);
}

array nan_to_num(const array& a,
                 float nan,
                 std::optional<float> positive,
                 std::optional<float> negative,
                 StreamOrDevice s) try {
  if (!is_floating(a.dtype())) {
    return a;
  }
  const Dtype dtype = a.dtype();
  array result = where(isnan(a, s), array(nan, dtype), a, s);
  result = where(isposinf(a, s), array(positive.value_or(greatest(dtype)), dtype), result, s);
  return where(isneginf(a, s), array(negative.value_or(-greatest(dtype)), dtype), result, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("nan_to_num", refusal);
}

std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s) try {
  return {floor_divide(a, b, s), remainder(a, b, s)};
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("divmod", refusal);
}

array isclose(const array& a,
              const array& b,
              double rtol,
              double atol,
              bool equal_nan,
              StreamOrDevice s) try {
  Dtype dtype = promote_types(a.dtype(), b.dtype());
  dtype = dtype < Dtype::Float16 ? Dtype::Float32 : dtype;
  const array x = astype(a, dtype, s);
  const array y = astype(b, dtype, s);
  const array size = abs(y, s);
  const array limit =
      add(array(atol, size.dtype()), multiply(array(rtol, size.dtype()), size, s), s);
  const array distance = distance_of(a, b, s);
  // Infinities are close to themselves alone.
  const array both_finite = logical_and(isfinite(x, s), isfinite(y, s), s);
  array result =
      logical_or(equal(a, b, s), logical_and(both_finite, less_equal(distance, limit, s), s), s);
  if (equal_nan) {
    result = logical_or(result, logical_and(isnan(x, s), isnan(y, s), s), s);
  }
  return result;
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("isclose", refusal);
}

array allclose(const array& a,
               const array& b,
               double rtol,
               double atol,
               bool equal_nan,
               StreamOrDevice s) try {
  return all(isclose(a, b, rtol, atol, equal_nan, s), false, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("allclose", refusal);
}

array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s) try {
  if (a.shape() != b.shape()) {
    return array(false);
  }
  array result = equal(a, b, s);
  if (equal_nan) {
    result = logical_or(result, logical_and(isnan(a, s), isnan(b, s), s), s);
  }
  return all(result, false, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("array_equal", refusal);
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
  ops::expect_joinable("logsumexp", a);
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
