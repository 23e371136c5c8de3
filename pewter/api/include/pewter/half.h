#pragma once

#include <bit>
#include <cstdint>

namespace pewter {

namespace detail {

/// Shifts right, rounding to nearest, ties to even. Amounts of 32 and more leave nothing.
constexpr std::uint32_t shift_rounded(std::uint32_t bits, std::uint32_t amount) {
  if (amount == 0 || amount >= 32) {
    return amount == 0 ? bits : 0;
  }
  const std::uint32_t kept = bits >> amount;
  const std::uint32_t lost = bits & ((1U << amount) - 1U);
  const std::uint32_t tie = 1U << (amount - 1);
  return kept + (lost > tie || (lost == tie && (kept & 1U) != 0) ? 1 : 0);
}

constexpr std::uint16_t half_bits(float number) {
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

constexpr float half_value(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0) {
    // 2^-24 times a whole number is exact.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

constexpr std::uint16_t bfloat_bits(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (number != number) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>(shift_rounded(bits, 16));
}

}  // namespace detail

/// IEEE binary16 on the host: a place for 16 bits that converts to and from float.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  constexpr explicit Float16(float number) : bits(detail::half_bits(number)) {}
  constexpr explicit operator float() const { return detail::half_value(bits); }
  bool operator==(const Float16&) const = default;
};

/// The upper half of a float, rounded to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  constexpr explicit BFloat16(float number) : bits(detail::bfloat_bits(number)) {}
  constexpr explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  bool operator==(const BFloat16&) const = default;
};

}  // namespace pewter
