#include <doctest/doctest.h>
#include <pewter/dtype.h>

#include <cmath>
#include <string>

using namespace pewter;

namespace {

template <typename T>
void check_type(const std::string& name) {
  CHECK(size_of(kDtypeOf<T>) == sizeof(T));
  CHECK(name_of(kDtypeOf<T>) == name);
  CHECK(dtype_named(name) == kDtypeOf<T>);
}

}  // namespace

TEST_CASE("every type of elements has a name, and the size of its C++ type") {
  check_type<bool>("bool");
  check_type<std::uint8_t>("uint8");
  check_type<std::uint16_t>("uint16");
  check_type<std::uint32_t>("uint32");
  check_type<std::uint64_t>("uint64");
  check_type<std::int8_t>("int8");
  check_type<std::int16_t>("int16");
  check_type<std::int32_t>("int32");
  check_type<std::int64_t>("int64");
  check_type<Float16>("float16");
  check_type<BFloat16>("bfloat16");
  check_type<float>("float32");
  check_type<std::complex<float>>("complex64");
  CHECK(!dtype_named("float99").has_value());
  CHECK(msl_name_of(Dtype::BFloat16) == "bfloat");
}

TEST_CASE("every half survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto wide = static_cast<float>(half);
    if (!std::isnan(wide)) {
      REQUIRE(Float16(wide).bits == bits);
    }
    BFloat16 brain;
    brain.bits = static_cast<std::uint16_t>(bits);
    if (!std::isnan(static_cast<float>(brain))) {
      REQUIRE(BFloat16(static_cast<float>(brain)).bits == bits);
    }
  }
}

TEST_CASE("halves are rounded to the nearest, ties to even") {
  CHECK(Float16(1.0F + 0x1p-11F).bits == 0x3c00);
  CHECK(Float16(1.0F + 0x3p-11F).bits == 0x3c02);
  CHECK(Float16(65519.0F).bits == 0x7bff);
  CHECK(Float16(65520.0F).bits == 0x7c00);
  CHECK(Float16(0x1p-25F).bits == 0);
  CHECK(Float16(0x1.8p-25F).bits == 1);
  CHECK(BFloat16(1.0F + 0x1p-8F).bits == 0x3f80);
  CHECK(BFloat16(3.4e38F).bits == 0x7f80);
  CHECK(std::isnan(static_cast<float>(BFloat16(NAN))));
}
