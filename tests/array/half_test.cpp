#include <doctest/doctest.h>
#include <pewter/half.h>

#include <bit>
#include <cmath>
#include <limits>

namespace pewter {
namespace {

Float16 half_of(std::uint32_t bits) {
  Float16 half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

BFloat16 bfloat_of(std::uint32_t bits) {
  BFloat16 bfloat;
  bfloat.bits = static_cast<std::uint16_t>(bits);
  return bfloat;
}

TEST_CASE("every half but NaN survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = static_cast<float>(half_of(bits));
    if (!std::isnan(wide) && Float16(wide).bits != bits) {
      FAIL("bits ", bits, " come back as ", Float16(wide).bits);
    }
  }
}

TEST_CASE("halves have the values that IEEE 754 gives them") {
  CHECK(static_cast<float>(half_of(0x3c00)) == 1.0f);
  CHECK(static_cast<float>(half_of(0xc000)) == -2.0f);
  CHECK(static_cast<float>(half_of(0x7bff)) == 65504.0f);
  CHECK(static_cast<float>(half_of(0x0001)) == std::ldexp(1.0f, -24));
  CHECK(std::isinf(static_cast<float>(half_of(0x7c00))));
  CHECK(std::isnan(static_cast<float>(half_of(0x7e00))));
}

TEST_CASE("float to half rounds to nearest, ties to even") {
  CHECK(Float16(1.0f + std::ldexp(1.0f, -11)).bits == 0x3c00);
  CHECK(Float16(1.0f + 3 * std::ldexp(1.0f, -11)).bits == 0x3c02);
  CHECK(Float16(65519.0f).bits == 0x7bff);
  CHECK(Float16(65520.0f).bits == 0x7c00);
  CHECK(Float16(std::ldexp(1.0f, -25)).bits == 0x0000);
  CHECK(Float16(std::ldexp(1.5f, -25)).bits == 0x0001);
  CHECK(Float16(-0.0f).bits == 0x8000);
  CHECK(std::isnan(static_cast<float>(Float16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("bfloat is the upper half of a float, rounded to nearest even") {
  CHECK(static_cast<float>(bfloat_of(0x3f80)) == 1.0f);
  CHECK(BFloat16(1.0f + std::ldexp(1.0f, -8)).bits == 0x3f80);
  CHECK(BFloat16(1.0f + 3 * std::ldexp(1.0f, -8)).bits == 0x3f82);
  CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001U)))));
}

}  // namespace
}  // namespace pewter
