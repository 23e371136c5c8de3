#include "tests/compiler/stdlib/accuracy/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace pewter::test {

double FloatFormat::value(std::uint32_t pattern) const {
  if (precision != kHalf.precision) {
    return std::bit_cast<float>(pattern << (32 - bits()));
  }
  const double sign = (pattern & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(pattern >> 10 & 31);
  const double fraction = pattern & 1023;
  if (exponent == 31) {
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double FloatFormat::unit(double value) const {
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::min(exponent, overflow_exponent);
  return std::ldexp(1.0, std::max(exponent - precision, least_exponent));
}

double FloatFormat::rounded(long double value) const {
  const auto near = static_cast<double>(value);
  if (!std::isfinite(near) || near == 0) {
    return near;
  }
  const long double step = unit(near);
  const auto nearest = static_cast<double>(std::nearbyint(value / step) * step);
  const double limit = std::ldexp(1.0, overflow_exponent);
  return std::copysign(
      std::fabs(nearest) < limit ? nearest : std::numeric_limits<double>::infinity(), near);
}

double FloatFormat::below_one() const {
  return 1 - std::ldexp(1.0, -precision);
}

double ulp_error(double got, double wanted, const FloatFormat& format) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(wanted)) {
    return std::isnan(got) && std::isnan(wanted) ? 0 : infinity;
  }
  if (got == wanted) {
    return 0;
  }
  if (std::isinf(wanted)) {
    return infinity;
  }
  const double limit = std::ldexp(1.0, format.overflow_exponent);
  if (std::isinf(got)) {
    got = std::copysign(limit, got);
    if (std::fabs(wanted) >= limit && std::signbit(got) == std::signbit(wanted)) {
      return 0;
    }
  }
  return std::fabs(got - wanted) / format.unit(wanted);
}

}  // namespace pewter::test
