#include <cmath>
#include <cstring>
#include <limits>

#include "tests/compiler/stdlib/elementwise.h"

// Conversions of floating-point numbers to integers: toward zero, to the nearest that the type has
// when they are out of range, and NaN to zero. Scalars, vectors and constants alike.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

/// Inputs around the limits of every integer type.
std::vector<float> awkward_inputs() {
  std::vector<float> values = {0.0F,   -0.0F, 0.5F,   -0.5F, 0.999F, -0.999F, 1.5F,   -1.5F,
                               1e-40F, 1e10F, -1e10F, 1e20F, -1e20F, 3e38F,   -3e38F, 2.75F};
  for (const int power : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const float edge = std::ldexp(1.0F, power);
    for (const float value : {edge, std::nextafter(edge, 0.0F), std::nextafter(edge, 1e30F),
                              edge - 1, edge + 1, edge - 0.5F}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  const float infinity = std::numeric_limits<float>::infinity();
  values.insert(values.end(), {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                               -std::numeric_limits<float>::quiet_NaN()});
  while (values.size() % 4 != 0) {
    values.push_back(7.0F);
  }
  return values;
}

template <typename T>
T wanted(float value) {
  const double whole = std::trunc(static_cast<double>(value));
  if (std::isnan(value)) {
    return 0;
  }
  // Both limits, or the number above the upper one, are exact in double.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return whole < low    ? std::numeric_limits<T>::min()
         : whole >= end ? std::numeric_limits<T>::max()
                        : static_cast<T>(whole);
}

template <typename T>
void check_type(const std::string& name) {
  const Gpu gpu;
  const std::vector<float> in = awkward_inputs();
  const std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void one(device const float* in [[buffer(0)]], device T* out [[buffer(1)]],\n"
      "                uint i [[thread_position_in_grid]]) {\n"
      "  out[i] = i % 3 == 0 ? T(in[i]) : i % 3 == 1 ? static_cast<T>(in[i]) : in[i];\n}\n"
      "kernel void four(device const float4* in [[buffer(0)]], device T4* out [[buffer(1)]],\n"
      "                 uint i [[thread_position_in_grid]]) { out[i] = T4(in[i]); }\n";
  const std::string text = "#define T " + name + "\n#define T4 " + name + "4\n" + source;
  std::vector<T> scalars(in.size());
  std::vector<T> vectors(in.size());

  gpu.run(text, "one", {.grid = size(in.size())}, in, scalars);
  gpu.run(text, "four", {.grid = size(in.size() / 4)}, in, vectors);

  for (std::size_t index = 0; index < in.size(); ++index) {
    const T expected = wanted<T>(in[index]);
    CHECK_MESSAGE(scalars[index] == expected, name, "(", in[index], ") is ", +scalars[index],
                  " instead of ", +expected);
    CHECK_MESSAGE(vectors[index] == expected, name, "4(", in[index], ") is ", +vectors[index],
                  " instead of ", +expected);
  }
}

}  // namespace

TEST_CASE("floats become the nearest integer toward zero that the type has") {
  check_type<std::int8_t>("char");
  check_type<std::uint8_t>("uchar");
  check_type<std::int16_t>("short");
  check_type<std::uint16_t>("ushort");
  check_type<std::int32_t>("int");
  check_type<std::uint32_t>("uint");
  check_type<std::int64_t>("long");
  check_type<std::uint64_t>("ulong");
}

TEST_CASE("halves and bfloats become integers as the floats that they equal") {
  test::check_values(
      {"uint(-1.0h)", "int(half(INFINITY))", "char(-300.0h)", "uchar(half(NAN))", "short(1000.5h)",
       "ushort(-0.5h)", "uint(bfloat(-3.0f))", "char(bfloat(1e30f))", "int(bfloat(NAN))",
       "uchar2(half2(-5.0h, 300.0h)).x", "uchar2(half2(-5.0h, 300.0h)).y",
       "int2(bfloat2(bfloat(2.5f), bfloat(-2.5f))).y"},
      {0, 2147483648.0F, -128, 0, 1000, 0, 0, 127, 0, 0, 255, -2});
}

TEST_CASE("constants are converted as values in memory are") {
  test::check_values({"uint(-1.0f)", "int(3e9f)", "int(-3e9f)", "uchar(256.0f)", "uint(NAN)",
                      "short(1e9f)", "ulong(-0.1f)", "int4(1e10f, -1e10f, NAN, 1.9f).z"},
                     {0, 2147483648.0F, -2147483648.0F, 255, 0, 32767, 0, 0});
}

TEST_CASE("integers become the nearest float or half, ties to even") {
  test::check_values(
      {"float(16777217) == 16777216.0f", "float(16777219) == 16777220.0f",
       "float(4294967295u) == 4294967296.0f",
       "float(0xffffff7fffffffffUL) == 18446742974197923840.0f",
       "float(-9223372036854775807L) == -9223372036854775808.0f", "half(2049) == 2048.0h",
       "half(2051) == 2052.0h", "isinf(half(65520))", "half(65519) == 65504.0h",
       "isinf(half(0xffffffffffffffffUL))", "float(bfloat(257)) == 256.0f",
       "float(bfloat(259)) == 260.0f", "all(half2(int2(2049, 2051)) == half2(2048.0h, 2052.0h))"},
      std::vector<float>(13, 1));
}

TEST_CASE("integers of other widths keep their lowest bits, and signs widen") {
  test::check_values(
      {"int(uchar(300))", "int(char(200))", "ushort(-1)", "uint(char(-1)) == 0xffffffffu",
       "long(-1) == long(0xffffffffffffffffUL)", "ulong(int(-2)) == 0xfffffffffffffffeUL",
       "uchar4(uint4(256, 257, 511, 65536)).z", "int(short4(int4(40000, 0, 0, 0)).x)", "uint(true)",
       "float(bool(0.5f))", "float(bool(NAN))", "int2(bool2(true, false)).x"},
      {44, -56, 65535, 1, 1, 1, 255, -25536, 1, 1, 1, 1});
}

TEST_CASE("as_type keeps every bit, between scalars and vectors of one size") {
  test::check_values(
      {"as_type<uint>(1.0f) == 0x3f800000u", "as_type<float>(0x40490fdbu) == 3.14159274f",
       "as_type<uint>(half2(1.0h, -2.0h)) == 0xc0003c00u", "as_type<half2>(0xc0003c00u).y == -2.0h",
       "as_type<ushort>(bfloat(1.0f)) == 0x3f80", "as_type<uchar4>(0x01020304u).x == 4",
       "as_type<uint>(uchar4(4, 3, 2, 1)) == 0x01020304u",
       "as_type<ulong>(uint2(1, 2)) == 0x200000001UL", "as_type<int>(0xffffffffu) == -1",
       "as_type<float4>(uint4(0x3f800000u, 0, 0, 0x40000000u)).w == 2.0f",
       "as_type<short2>(-65535).x == 1"},
      std::vector<float>(11, 1));
}

TEST_CASE("as_type between types of different sizes is an error at its line") {
  const Gpu gpu;
  const std::string error = gpu.library_error(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device uint* x [[buffer(0)]]) { x[0] = as_type<uint>(half(1)); }\n");
  CHECK(error.find("as_type needs two types of the same size") != std::string::npos);
  CHECK(error.find("program_source:3:") != std::string::npos);
}

}  // namespace pewter
