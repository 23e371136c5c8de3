#include "tests/compiler/stdlib/elementwise.h"

namespace pewter {
TEST_CASE("integer functions count, turn and reverse bits") {
  test::check_values(
      {"popcount(0xf0f0u)", "popcount(uchar(255))", "clz(1u)", "clz(0u)", "clz(ushort(1))",
       "ctz(8u)", "ctz(0u)", "reverse_bits(1u) == 0x80000000u", "reverse_bits(uchar(1))",
       "rotate(0x80000001u, 1u)", "rotate(uchar(0x81), uchar(1))", "popcount(uint2(3, 255)).y",
       "extract_bits(0xabcdu, 4, 8) == 0xbc", "insert_bits(0u, 0xfu, 8, 4) == 0xf00",
       "extract_bits(-8, 2, 3)"},
      {8, 8, 31, 32, 15, 3, 32, 1, 128, 3, 3, 8, 1, 1, -2});
}

TEST_CASE("integer arithmetic saturates, averages and keeps high halves") {
  test::check_values(
      {"addsat(uchar(250), uchar(10))",
       "addsat(char(100), char(100))",
       "subsat(5u, 10u)",
       "subsat(char(-100), char(100))",
       "hadd(7u, 4u)",
       "rhadd(7u, 4u)",
       "mulhi(0x80000000u, 4u)",
       "mulhi(-1, 1)",
       "madhi(0x80000000u, 4u, 5u)",
       "absdiff(3, 10)",
       "absdiff(char(-100), char(100))",
       "mul24(3, -4)",
       "mad24(3, 4, 5)",
       "max3(1, 9, 4)",
       "min3(5u, 2u, 8u)",
       "median3(9, 1, 5)",
       "clamp(12, 0, 10)",
       "abs(-7)",
       "mulhi(ulong(1) << 63, ulong(4))",
       "madsat(100000, 100000, 1)"},
      {255, 127, 0, -128, 5, 6, 2, -1, 7, 7, 200, -12, 17, 9, 2, 5, 10, 7, 2, 2147483647.0F});
}

TEST_CASE("integer division and remainder truncate, shifts take the count modulo the width") {
  test::check_values(
      {"-7 / 2", "-7 % 2", "7u / 2u", "(int4(-7) / 2).x", "(uint2(1) << 33u).x", "(-8) >> 1",
       "(int2(-8) >> 1).y", "uchar(200) + uchar(100)", "char(-128) / char(-1)"},
      {-3, -1, 3, -3, 2, -4, -4, 300, 128});
}

TEST_CASE("relational functions select and test") {
  test::check_values(
      {"select(1.0f, 2.0f, true)", "select(float3(1), float3(2), bool3(true, false, true)).y",
       "all(bool3(true, true, false))", "any(bool3(false, true, false))", "all(float4(1) == 1.0f)",
       "any(int2(1, 2) > 2)", "int(isnan(float2(NAN, 1)).x)",
       "select(int2(1, 2), int2(3, 4), uint2(0, 1) > 0u).y", "any(!bool2(true, true))"},
      {2, 1, 0, 1, 1, 0, 1, 4, 0});
}

TEST_CASE("geometric functions work on vectors") {
  test::check_values(
      {"dot(float3(1, 2, 3), float3(4, 5, 6))", "length(float2(3, 4))",
       "length_squared(float2(3, 4))", "distance(float2(1, 1), float2(4, 5))",
       "distance_squared(float2(1, 1), float2(4, 5))", "cross(float3(1, 0, 0), float3(0, 1, 0)).z",
       "normalize(float2(3, 4)).x * 5", "reflect(float2(1, -1), float2(0, 1)).y",
       "faceforward(float2(0, 1), float2(0, 1), float2(0, 1)).y",
       "refract(float2(0, -1), float2(0, 1), 0.5f).y", "dot(half2(1, 2), half2(3, 4))"},
      {32, 5, 25, 5, 25, 1, 3, 1, -1, -1, 11});
}

TEST_CASE("packing functions round and clamp") {
  test::check_values(
      {"pack_float_to_unorm4x8(float4(0, 1, 0.5, 2)) == 0xff80ff00u",
       "pack_float_to_snorm4x8(float4(-1, 1, 0, -2)) == 0x81007f81u",
       "pack_float_to_unorm2x16(float2(0, 1)) == 0xffff0000u",
       "unpack_unorm4x8_to_float(0xff00ff00u).y", "unpack_snorm4x8_to_float(0x81u).x",
       "unpack_unorm2x16_to_float(0xffff0000u).y", "unpack_snorm2x16_to_float(0x7fffu).x",
       "unpack_unorm4x8_to_half(0xff000000u).w"},
      {1, 1, 1, 1, -1, 1, 1, 1});
}

TEST_CASE("as_type keeps the bits") {
  test::check_values({"as_type<float>(0x40490fdbu)", "as_type<uint>(1.0f) == 0x3f800000u",
                      "as_type<half>(ushort(0x3c00))", "as_type<ushort2>(0x00020001u).y",
                      "as_type<uint>(uchar4(1, 2, 3, 4)) == 0x04030201u", "as_type<int2>(5ul).x"},
                     {3.14159274F, 1, 1, 2, 1, 5});
}

TEST_CASE("matrices multiply, transpose and convert") {
  test::check_values({"(float2x2(float2(1, 2), float2(3, 4)) * float2(1, 1)).x",
                      "(float2(1, 1) * float2x2(float2(1, 2), float2(3, 4))).x",
                      "(float2x2(float2(1, 2), float2(3, 4)) * float2x2(2.0f))[1].y",
                      "transpose(float2x3(float3(1, 2, 3), float3(4, 5, 6)))[2].y",
                      "determinant(float3x3(float3(2, 0, 0), float3(0, 3, 0), float3(0, 0, 4)))",
                      "(float4x4(1.0f) + float4x4(2.0f))[3].w", "(3.0f * float2x2(1.0f))[0].x",
                      "float3x3(5.0f)[1].y", "half2x2(float2x2(1.5f))[0].x",
                      "(float4x3(float3(1), float3(2), float3(3), float3(4)) * float4(1)).z",
                      "(float2x2(1.0f) - float2x2(1.0f))[0].x"},
                     {4, 3, 8, 6, 24, 3, 3, 5, 1.5F, 10, 0});
}

TEST_CASE("limits and traits describe the types") {
  test::check_values(
      {"numeric_limits<int>::max()", "numeric_limits<uchar>::max()", "numeric_limits<half>::max()",
       "numeric_limits<float>::infinity() > 1e38f", "numeric_limits<short>::lowest()",
       "is_same_v<float, float>", "is_integral_v<half>", "is_floating_point_v<bfloat>",
       "sizeof(conditional_t<true, char, int>)", "is_unsigned_v<uint>", "array<int, 3>{4, 5, 6}[1]",
       "array<int, 3>().size()"},
      {2147483648.0F, 255, 65504, 1, -32768, 1, 0, 1, 1, 1, 5, 3});
}

TEST_CASE("packed vectors convert and compute") {
  test::check_values(
      {"(packed_float3(1, 2, 3) + packed_float3(1, 1, 1)).z", "float3(packed_float3(1, 2, 3)).y",
       "packed_float3(float3(4)).x", "(packed_float2(1, 2) * 3.0f).y", "packed_uchar4(9)[2]",
       "dot(float3(packed_float3(1, 2, 3)), float3(1))", "packed_half3(1, 2, 3).y"},
      {4, 2, 4, 6, 9, 6, 2});
}

}  // namespace pewter
