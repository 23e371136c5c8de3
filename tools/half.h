#pragma once

#include <cstdint>

/// Conversions between float and the 16-bit formats, rounding to nearest even.
namespace pewter::tools {

float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float number);

float bfloat_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat(float number);

}  // namespace pewter::tools
