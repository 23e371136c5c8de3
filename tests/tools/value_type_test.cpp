#include "tools/value_type.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "tools/failure.h"

namespace pewter::tools {
namespace {

template <typename T>
T as(const std::vector<std::byte>& bytes, std::size_t index = 0) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

TEST_CASE("types are known by their short and their MSL names") {
  CHECK(parse_type("f32") == ValueType{Element::Float, 1});
  CHECK(parse_type("float") == ValueType{Element::Float, 1});
  CHECK(parse_type("bf16") == ValueType{Element::BFloat, 1});
  CHECK(parse_type("uchar4") == ValueType{Element::UChar, 4});
  CHECK(parse_type("bool") == ValueType{Element::Bool, 1});
}

TEST_CASE("unknown types are refused with a suggestion") {
  CHECK_THROWS_WITH_AS(parse_type("flaot"), "unknown type 'flaot'; did you mean 'float'?",
                       UsageError);
  CHECK_THROWS_AS(parse_type("float5"), UsageError);
  CHECK_THROWS_AS(parse_type("double"), UsageError);
  CHECK_THROWS_AS(parse_type(""), UsageError);
}

TEST_CASE("a vector of three is as large as one of four") {
  CHECK(parse_type("float3").byte_count() == 16);
  CHECK(parse_type("half3").byte_count() == 8);
  CHECK(parse_type("uint2").byte_count() == 8);
}

TEST_CASE("types and Metal's data types correspond") {
  CHECK(parse_type("float4").data_type() == MTL::DataTypeFloat4);
  CHECK(parse_type("bool").data_type() == MTL::DataTypeBool);
  CHECK(parse_type("ulong3").data_type() == MTL::DataTypeULong3);

  ValueType type;
  CHECK(type_of_data_type(MTL::DataTypeHalf2, type));
  CHECK(type == ValueType{Element::Half, 2});
  CHECK(!type_of_data_type(MTL::DataTypeStruct, type));
  CHECK(!type_of_data_type(MTL::DataTypeFloat2x2, type));
}

TEST_CASE("typed values are parsed lane by lane or spread over all lanes") {
  CHECK(as<std::uint32_t>(parse_typed_value("uint:7", "--bytes").bytes) == 7);
  CHECK(as<float>(parse_typed_value("float2:1,-2.5", "--bytes").bytes, 1) == -2.5f);
  CHECK(as<std::int8_t>(parse_typed_value("char4:-3", "--bytes").bytes, 3) == -3);
  CHECK(as<std::uint8_t>(parse_typed_value("bool:true", "--bytes").bytes) == 1);
  CHECK(as<std::uint64_t>(parse_typed_value("u64:18446744073709551615", "--bytes").bytes) ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("numbers out of range or malformed are refused") {
  CHECK_THROWS_WITH_AS(parse_typed_value("uchar:256", "--bytes"),
                       "'256' is out of the range of uchar", UsageError);
  CHECK_THROWS_WITH_AS(parse_typed_value("uint:-1", "--bytes"), "'-1' is not a uint", UsageError);
  CHECK_THROWS_AS(parse_typed_value("int:1.5", "--bytes"), UsageError);
  CHECK_THROWS_AS(parse_typed_value("bool:maybe", "--bytes"), UsageError);
  CHECK_THROWS_AS(parse_typed_value("float:", "--bytes"), UsageError);
  CHECK_THROWS_AS(parse_typed_value("7", "--bytes"), UsageError);
  CHECK_THROWS_WITH_AS(parse_typed_value("float3:1,2", "--bytes"),
                       "--bytes: float3 takes 3 numbers, 'float3:1,2' has 2", UsageError);
}

TEST_CASE("stored integers saturate") {
  std::vector<std::byte> bytes(8);
  store_number(Element::UChar, 300, bytes.data());
  CHECK(as<std::uint8_t>(bytes) == 255);
  store_number(Element::Short, -1e9, bytes.data());
  CHECK(as<std::int16_t>(bytes) == -32768);
  store_number(Element::Long, 1e300, bytes.data());
  CHECK(as<std::int64_t>(bytes) == std::numeric_limits<std::int64_t>::max());
  store_number(Element::Int, std::numeric_limits<double>::quiet_NaN(), bytes.data());
  CHECK(as<std::int32_t>(bytes) == 0);
}

TEST_CASE("numbers are shown exactly when whole and to six digits otherwise") {
  const auto large = parse_typed_value("long:-9007199254740993", "--bytes");
  CHECK(format_number(Element::Long, large.bytes.data()) == "-9007199254740993");
  const auto third = parse_typed_value("float:0.33333333", "--bytes");
  CHECK(format_number(Element::Float, third.bytes.data()) == "0.333333");
}

}  // namespace
}  // namespace pewter::tools
