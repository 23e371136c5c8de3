#include "tests/compiler/stdlib/elementwise.h"

// Facts about types that a program states itself: it compiles when they hold.

namespace pewter {
namespace {

void check_holds(const std::vector<std::string>& facts, const std::string& before = "") {
  const test::Gpu gpu;
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n" + before + "\n";
  for (const std::string& fact : facts) {
    source += "static_assert(" + fact + ", \"\");\n";
  }
  CHECK(gpu.library(source + "kernel void f() {}\n"));
}

}  // namespace

TEST_CASE("types have the sizes and alignments of the specification") {
  std::vector<std::string> facts = {
      "sizeof(bool) == 1",     "sizeof(size_t) == 8",        "sizeof(half) == 2",
      "sizeof(bfloat) == 2",   "alignof(packed_long4) == 8", "sizeof(float4x3) == 64",
      "sizeof(half3x3) == 24", "sizeof(atomic_int) == 4",    "sizeof(atomic_ulong) == 8"};
  const std::vector<std::pair<std::string, int>> scalars = {
      {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},   {"uint", 4},
      {"long", 8}, {"ulong", 8}, {"half", 2},  {"bfloat", 2}, {"float", 4}, {"bool", 1}};
  for (const auto& [name, bytes] : scalars) {
    for (int length = 2; length <= 4; ++length) {
      const std::string type = name + std::to_string(length);
      const int padded = length == 3 ? 4 : length;
      facts.push_back("sizeof(" + type + ") == " + std::to_string(padded * bytes));
      facts.push_back("alignof(" + type + ") == " + std::to_string(padded * bytes));
      if (name != "bool") {
        facts.push_back("sizeof(packed_" + type + ") == " + std::to_string(length * bytes));
        facts.push_back("alignof(packed_" + type + ") == " + std::to_string(bytes));
      }
    }
  }
  check_holds(facts);
}

TEST_CASE("limits are those of the types") {
  check_holds({"numeric_limits<float>::max() == FLT_MAX",
               "numeric_limits<float>::digits == 24",
               "numeric_limits<half>::max() == 65504.0h",
               "numeric_limits<half>::epsilon() == 0x1p-10",
               "numeric_limits<bfloat>::digits == 8",
               "numeric_limits<bfloat>::has_infinity",
               "numeric_limits<long>::min() == LONG_MIN",
               "numeric_limits<ulong>::max() == ULONG_MAX",
               "numeric_limits<uchar>::digits == 8",
               "numeric_limits<short>::is_signed",
               "!numeric_limits<uint>::is_signed",
               "numeric_limits<bool>::digits == 1",
               "numeric_limits<int8_t>::lowest() == -128",
               "!numeric_limits<float4>::is_specialized",
               "numeric_limits<const int>::is_integer",
               "numeric_limits<half>::denorm_min() > 0.0h",
               "numeric_limits<half>::lowest() == -HALF_MAX",
               "MAXHALF == HALF_MAX",
               "M_PI_F > 3.14159f && M_PI_F < 3.1416f",
               "M_PI_H == half(M_PI_F)",
               "INFINITY > FLT_MAX",
               "INT_MIN == -2147483648",
               "USHRT_MAX == 65535",
               "CHAR_BIT == 8"});
}

TEST_CASE("traits describe scalars, pointers, classes and functions") {
  check_holds({"is_same_v<float, float> && !is_same_v<float, half>",
               "is_integral<char>::value",
               "is_floating_point_v<bfloat> && !is_floating_point_v<int>",
               "is_arithmetic_v<half>",
               "is_pointer_v<device float*>",
               "is_class_v<S> && is_union_v<U> && is_enum_v<E>",
               "is_base_of_v<S, D> && is_convertible_v<D, S>",
               "is_const_v<const int>",
               "is_same_v<remove_cv_t<const volatile int>, int>",
               "is_same_v<remove_reference_t<int&>, int>",
               "is_same_v<remove_pointer_t<device int*>, device int>",
               "is_same_v<underlying_type_t<E>, uint>",
               "is_same_v<make_unsigned_t<short>, ushort> && is_same_v<make_signed_t<uint>, int>",
               "is_same_v<conditional_t<false, int, float>, float>",
               "is_same_v<decay_t<const int&>, int>",
               "is_same_v<common_type_t<int, float>, float>",
               "conjunction_v<true_type, is_void<void>>",
               "disjunction_v<false_type, true_type> && negation_v<false_type>",
               "is_constructible_v<float4, float2, float2>",
               "!is_convertible_v<half4, float4>",
               "is_trivially_copyable_v<float4> && is_trivially_copyable_v<float4x4>",
               "is_signed_v<int> && is_unsigned_v<uint> && is_signed_v<half>",
               "is_array_v<int[3]>",
               "extent_v<int[3][4], 1> == 4 && rank_v<int[3][4]> == 2",
               "integral_constant<int, 5>::value == 5 && integral_constant<int, 5>()() == 5",
               "is_same_v<decltype(float4().x), float> && is_same_v<decltype(int3().xy), int2>",
               "is_same_v<remove_addrspace_t<device float>, float>",
               "is_same_v<decltype(make_index_sequence<3>()), index_sequence<0, 1, 2>>"},
              "struct S {}; struct D : S {}; union U { int a; }; enum class E : uint { a };");
}

TEST_CASE("arrays work in every address space and as constants") {
  test::check_values(
      {"table[2]", "table.size()", "sum(table)", "local()", "first_of(pairs)", "array{4, 5, 6}[1]",
       "get<1>(table)"},
      "constant constexpr array<int, 3> table = {7, 8, 9};\n"
      "constant array<float2, 2> pairs = {float2(1, 2), float2(3, 4)};\n"
      "static_assert(table[0] == 7 && table.size() == 3 && sizeof(array<half, 5>) == 10, \"\");\n"
      "template <typename A> int sum(constant A& a) { int s = 0; for (int x : a) s += x; return s; "
      "}\n"
      "float first_of(constant array<float2, 2>& a) { return a[1].y; }\n"
      "int local() { array<int, 4> a = {}; a[2] = 5; a.fill(a[2]); return a[0] + a.back() + "
      "a.data()[1]; }",
      {9, 3, 24, 15, 4, 5, 8});
}

TEST_CASE("types of simd.h are the same types") {
  check_holds({"is_same_v<simd_float4, float4>", "is_same_v<simd::uint2, uint2>",
               "is_same_v<vector_float3, float3>", "is_same_v<simd_float4x4, float4x4>",
               "is_same_v<matrix_half2x3, half2x3>", "is_same_v<simd::float3x3, float3x3>",
               "is_same_v<simd_packed_float4, packed_float4>"},
              "#include <simd/simd.h>");
}

TEST_CASE("a braced list that is too short leaves zeros") {
  test::check_values({"digits(float4{1})", "digits(float4{1, 2, 3})", "digits(short_list())",
                      "digits(float4(packed_float4{5, 6}))", "digits(float4{})"},
                     "float digits(float4 v) { return v.x + 10 * v.y + 100 * v.z + 1000 * v.w; }\n"
                     "float4 short_list() { int n = 4; float4 v = {n, n + 1}; return v; }",
                     {1, 321, 54, 65, 0});
}

}  // namespace pewter
