#include "tests/compiler/stdlib/elementwise.h"

namespace pewter {

TEST_CASE("functions keep NaN and special values as MSL says") {
  test::check_values({"isnan(NAN)", "isinf(INFINITY)", "isfinite(1.0f)", "isnormal(1e-40f)",
                      "signbit(-0.0f)", "fmin(NAN, 2.0f)", "fmax(2.0f, NAN)", "saturate(NAN)",
                      "sign(NAN)", "isordered(1.0f, NAN)", "isunordered(1.0f, NAN)"},
                     {1, 1, 1, 0, 1, 2, 2, 0, 0, 0, 1});
}

TEST_CASE("functions with a second result give both") {
  test::check_values(
      {"frexp_of(12.0f)", "modf_of(-2.75f)", "ldexp(0.75f, 3)", "ilogb(10.0f)",
       "sincos_of(0.5f) - sin(0.5f) * 10 - cos(0.5f)"},
      "float frexp_of(float x) { int e; float m = frexp(x, e); return m * 100 + e; }\n"
      "float modf_of(float x) { float i; float f = modf(x, i); return i * 100 + f; }\n"
      "float sincos_of(float x) { float c; float s = sincos(x, c); return s * 10 + c; }",
      {79, -200.75F, 6, 3, 0});
}

TEST_CASE("functions take vectors, and scalars beside them") {
  test::check_values({"max(float3(1, 5, 3), 4.0f).z", "min(float2(7, 1), float2(3, 2)).x",
                      "clamp(float4(-1, 0.5, 2, 9), 0.0f, 1.0f).w", "sqrt(float2(4, 9)).y",
                      "mix(float2(0, 10), float2(10, 20), 0.5f).y", "abs(int3(-4, 5, -6)).z",
                      "pow(float2(2, 3), float2(3, 2)).y", "exp2(half2(3, 4)).y",
                      "fma(float3(2), float3(3), float3(4)).x", "floor(half4(1.5h)).w"},
                     {4, 3, 1, 3, 15, 6, 9, 16, 10, 1});
}

TEST_CASE("half and bfloat functions give half and bfloat") {
  test::check_values(
      {"sizeof(sin(1.0h))", "exp(1.0h)", "sqrt(2.0h)", "float(bfloat(1.0f) / bfloat(3.0f))",
       "max(1.5h, 2.5h)", "fabs(-1.5h)", "float(abs(bfloat(-2.5f)))"},
      {2, 2.71875F, 1.4140625F, 0.333984375F, 2.5F, 1.5F, 2.5F});
}

}  // namespace pewter
