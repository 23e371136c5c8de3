#include "pewter/runtime/kernel_argument.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

using pewter::runtime::argument_cast;
using pewter::runtime::ArgumentCast;
using pewter::runtime::BytesArgument;
using pewter::runtime::pack_floats;
using pewter::runtime::pack_integers;

namespace {

template <typename T>
std::vector<T> read(const BytesArgument& argument) {
  std::vector<T> values(argument.bytes.size() / sizeof(T));
  REQUIRE(values.size() * sizeof(T) == argument.bytes.size());
  std::memcpy(values.data(), argument.bytes.data(), argument.bytes.size());
  return values;
}

}  // namespace

TEST_CASE("integers travel as 8 bytes and floats as 4") {
  const std::int64_t integers[] = {1, -2, std::numeric_limits<std::int64_t>::min()};
  CHECK(read<std::int64_t>(pack_integers(integers, {})) ==
        std::vector<std::int64_t>(std::begin(integers), std::end(integers)));
  const double floats[] = {0.5, 0.1};
  CHECK(read<float>(pack_floats(floats, {})) == std::vector<float>{0.5F, 0.1F});
}

TEST_CASE("casts convert by value") {
  const std::int64_t integers[] = {-1, 300};
  CHECK(read<std::int32_t>(pack_integers(integers, ArgumentCast::Int32)) ==
        std::vector<std::int32_t>{-1, 300});
  CHECK(read<std::uint8_t>(pack_integers(integers, ArgumentCast::UInt8)) ==
        std::vector<std::uint8_t>{255, 44});
  CHECK(read<std::uint16_t>(pack_integers(integers, ArgumentCast::Float16)) ==
        std::vector<std::uint16_t>{0xbc00, 0x5cb0});
  const double floats[] = {-2.9, 7.5};
  CHECK(read<std::int8_t>(pack_floats(floats, ArgumentCast::Int8)) ==
        std::vector<std::int8_t>{-2, 7});
  CHECK(read<std::int16_t>(pack_floats(floats, ArgumentCast::Int16)) ==
        std::vector<std::int16_t>{-2, 7});
  CHECK(read<std::uint16_t>(pack_floats(floats, ArgumentCast::BFloat16)) ==
        std::vector<std::uint16_t>{0xc03a, 0x40f0});
}

TEST_CASE("half numbers are rounded once") {
  // Between two halves, a little above the middle: rounding to float first would make it a tie.
  const double above_tie[] = {1.0 + 0x1p-11 + 0x1p-40};
  CHECK(read<std::uint16_t>(pack_floats(above_tie, ArgumentCast::Float16)) ==
        std::vector<std::uint16_t>{0x3c01});
  const double special[] = {INFINITY, -1e300, 1e-300};
  CHECK(read<std::uint16_t>(pack_floats(special, ArgumentCast::Float16)) ==
        std::vector<std::uint16_t>{0x7c00, 0xfc00, 0});
}

TEST_CASE("a float out of the range of integers gives the nearest one") {
  const double floats[] = {1e30, -1e30, std::nan("")};
  CHECK(read<std::int32_t>(pack_floats(floats, ArgumentCast::Int32)) ==
        std::vector<std::int32_t>{-1, 0, 0});
}

TEST_CASE("an unknown cast is named in the error") {
  CHECK(argument_cast("bf16") == ArgumentCast::BFloat16);
  CHECK_THROWS_WITH_AS(argument_cast("fp99"), doctest::Contains("fp99"), std::runtime_error);
}
