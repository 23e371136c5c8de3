#include "tools/half.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace pewter::tools {
namespace {

TEST_CASE("every half but NaN survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = half_to_float(static_cast<std::uint16_t>(bits));
    if (!std::isnan(wide) && float_to_half(wide) != bits) {
      FAIL("bits ", bits, " come back as ", float_to_half(wide));
    }
  }
}

TEST_CASE("halves have the values that IEEE 754 gives them") {
  CHECK(half_to_float(0x3c00) == 1.0f);
  CHECK(half_to_float(0xc000) == -2.0f);
  CHECK(half_to_float(0x7bff) == 65504.0f);
  CHECK(half_to_float(0x0001) == std::ldexp(1.0f, -24));
  CHECK(std::isinf(half_to_float(0x7c00)));
  CHECK(std::isnan(half_to_float(0x7e00)));
}

TEST_CASE("float to half rounds to nearest, ties to even") {
  CHECK(float_to_half(1.0f + std::ldexp(1.0f, -11)) == 0x3c00);
  CHECK(float_to_half(1.0f + 3 * std::ldexp(1.0f, -11)) == 0x3c02);
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(std::ldexp(1.0f, -25)) == 0x0000);
  CHECK(float_to_half(std::ldexp(1.5f, -25)) == 0x0001);
  CHECK(float_to_half(-0.0f) == 0x8000);
  CHECK(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("bfloat is the upper half of a float, rounded to nearest even") {
  CHECK(bfloat_to_float(0x3f80) == 1.0f);
  CHECK(float_to_bfloat(1.0f + std::ldexp(1.0f, -8)) == 0x3f80);
  CHECK(float_to_bfloat(1.0f + 3 * std::ldexp(1.0f, -8)) == 0x3f82);
  CHECK(float_to_bfloat(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(std::isnan(bfloat_to_float(float_to_bfloat(std::bit_cast<float>(0x7f800001U)))));
}

}  // namespace
}  // namespace pewter::tools
