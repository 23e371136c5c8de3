#include "tools/half.h"

#include <bit>
#include <cmath>

namespace pewter::tools {
namespace {

// Shifts right, rounding to nearest, ties to even. Amounts of 32 and more leave nothing.
std::uint32_t shift_rounded(std::uint32_t bits, std::uint32_t amount) {
  if (amount >= 32) {
    return 0;
  }
  const std::uint32_t kept = bits >> amount;
  const std::uint32_t lost = bits & ((1U << amount) - 1U);
  const std::uint32_t tie = amount == 0 ? 1 : 1U << (amount - 1);
  return kept + (lost > tie || (lost == tie && (kept & 1U) != 0) ? 1 : 0);
}

}  // namespace

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

std::uint16_t float_to_half(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t exponent = (bits >> 23) & 0xffU;
  const std::uint32_t mantissa = bits & 0x7fffffU;
  if (exponent == 255) {
    return static_cast<std::uint16_t>(sign | 0x7c00U | (mantissa != 0 ? 0x200U : 0U));
  }
  if (exponent >= 143) {
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  // A carry out of the mantissa runs into the exponent, which is just what rounding up means.
  if (exponent >= 113) {
    return static_cast<std::uint16_t>(sign +
                                      (((exponent - 112) << 10) + shift_rounded(mantissa, 13)));
  }
  const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | 0x800000U;
  return static_cast<std::uint16_t>(sign + shift_rounded(significand, 126 - exponent));
}

float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t float_to_bfloat(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (std::isnan(number)) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>(shift_rounded(bits, 16));
}

}  // namespace pewter::tools
