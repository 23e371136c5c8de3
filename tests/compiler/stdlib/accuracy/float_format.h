#pragma once

#include <cstdint>

namespace pewter::test {

/// A binary floating-point type of MSL.
struct FloatFormat {
  const char* name;
  /// Bits of the significand, the leading one included.
  int precision;
  /// Exponent of the first power of two beyond the largest number.
  int overflow_exponent;
  /// Exponent of the smallest subnormal number.
  int least_exponent;

  /// Of one number: 32 or 16.
  int bits() const { return precision == 24 ? 32 : 16; }
  /// The number that has those bits.
  double value(std::uint32_t pattern) const;
  /// Distance of neighbours around `value`, as the specification's "ULPs and Relative Error" has
  /// it.
  double unit(double value) const;
  /// The number nearest to `value`, ties to even.
  double rounded(long double value) const;
  /// The largest number below one.
  double below_one() const;
};

inline constexpr FloatFormat kFloat = {"float", 24, 128, -149};
inline constexpr FloatFormat kHalf = {"half", 11, 16, -24};
inline constexpr FloatFormat kBfloat = {"bfloat", 8, 128, -133};

/// Distance of `got`, a number of the format, from `wanted` in units of the last place. Infinity
/// counts as the first number beyond the largest, so that a result may overflow a little early or
/// late. 0 when both are NaN or the same infinity; infinite when one of them alone is NaN or
/// `wanted` alone is infinite.
double ulp_error(double got, double wanted, const FloatFormat& format = kFloat);

}  // namespace pewter::test
