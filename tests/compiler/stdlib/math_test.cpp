#include "tests/compiler/stdlib/elementwise.h"

namespace pewter {
namespace {

using test::Row;

// Bounds are those of the MSL specification's table for precise functions, or tighter.
const std::vector<Row> kUnary = {
    {"acos(x)", [](double x, double, double) { return std::acos(x); }, 4, -1, 1},
    {"acosh(x)", [](double x, double, double) { return std::acosh(x); }, 4, 1},
    {"asin(x)", [](double x, double, double) { return std::asin(x); }, 4, -1, 1},
    {"asinh(x)", [](double x, double, double) { return std::asinh(x); }, 4},
    {"atan(x)", [](double x, double, double) { return std::atan(x); }, 5},
    {"atanh(x)", [](double x, double, double) { return std::atanh(x); }, 5, -1, 1},
    {"ceil(x)", [](double x, double, double) { return std::ceil(x); }, 0},
    {"cos(x)", [](double x, double, double) { return std::cos(x); }, 4, -2e4, 2e4},
    {"cosh(x)", [](double x, double, double) { return std::cosh(x); }, 4},
    {"precise::exp(x)", [](double x, double, double) { return std::exp(x); }, 4},
    {"precise::exp10(x)", [](double x, double, double) { return std::pow(10.0, x); }, 4},
    {"precise::exp2(x)", [](double x, double, double) { return std::exp2(x); }, 4},
    {"fabs(x)", [](double x, double, double) { return std::fabs(x); }, 0},
    {"floor(x)", [](double x, double, double) { return std::floor(x); }, 0},
    {"log(x)", [](double x, double, double) { return std::log(x); }, 4, 0},
    {"log10(x)", [](double x, double, double) { return std::log10(x); }, 4, 0},
    {"log2(x)", [](double x, double, double) { return std::log2(x); }, 4, 0},
    {"rint(x)", [](double x, double, double) { return std::rint(x); }, 0},
    {"round(x)", [](double x, double, double) { return std::round(x); }, 0},
    {"rsqrt(x)", [](double x, double, double) { return 1 / std::sqrt(x); }, 2, 1e-30},
    {"sin(x)", [](double x, double, double) { return std::sin(x); }, 4, -2e4, 2e4},
    {"sinh(x)", [](double x, double, double) { return std::sinh(x); }, 4},
    {"sqrt(x)", [](double x, double, double) { return std::sqrt(x); }, 0.5, 0},
    {"tan(x)", [](double x, double, double) { return std::tan(x); }, 6, -2e4, 2e4},
    {"tanh(x)", [](double x, double, double) { return std::tanh(x); }, 5},
    {"trunc(x)", [](double x, double, double) { return std::trunc(x); }, 0},
    {"sinpi(x)",
     [](double x, double, double) {
       return x == std::floor(x) ? 0 * x : std::sin(M_PI * std::fmod(x, 2));
     },
     4, -64, 64},
    {"cospi(x)", [](double x, double, double) { return std::cos(M_PI * std::fmod(x, 2)); }, 4, 0.01,
     0.4},
    {"precise::exp(x)", [](double x, double, double) { return std::exp(x); }, 4},
    {"precise::log(x)", [](double x, double, double) { return std::log(x); }, 4, 0},
    {"precise::sin(x)", [](double x, double, double) { return std::sin(x); }, 4, -2e4, 2e4},
    {"fast::sin(x)", [](double x, double, double) { return std::sin(x); }, 1e5, -3, 3},
    {"fast::exp(x)", [](double x, double, double) { return std::exp(x); }, 64, -80, 80},
};

const std::vector<Row> kBinary = {
    {"atan2(x, y)", [](double x, double y, double) { return std::atan2(x, y); }, 6},
    {"copysign(x, y)", [](double x, double y, double) { return std::copysign(x, y); }, 0},
    {"fdim(x, y)", [](double x, double y, double) { return std::fdim(x, y); }, 0.5},
    {"fmax(x, y)", [](double x, double y, double) { return std::fmax(x, y); }, 0},
    {"fmin(x, y)", [](double x, double y, double) { return std::fmin(x, y); }, 0},
    {"fmod(x, y)", [](double x, double y, double) { return std::fmod(x, y); }, 0, -1e6, 1e6},
    {"max(x, y)", [](double x, double y, double) { return std::fmax(x, y); }, 0},
    {"min(x, y)", [](double x, double y, double) { return std::fmin(x, y); }, 0},
    {"pow(fabs(x), y)", [](double x, double y, double) { return std::pow(std::fabs(x), y); }, 16},
    {"powr(fabs(x), y)", [](double x, double y, double) { return std::pow(std::fabs(x), y); }, 16,
     1e-10, 1e10},
    {"divide(x, y)", [](double x, double y, double) { return x / y; }, 2.5, 0.01, 1e10},
    {"step(x, y)", [](double x, double y, double) { return y < x ? 0.0 : 1.0; }, 0},
    {"fma(x, y, z)", [](double x, double y, double z) { return std::fma(x, y, z); }, 0.5, -1e3,
     1e3},
    {"mix(x, y, z)", [](double x, double y, double z) { return x + (y - x) * z; }, 64, 0.01, 1e3},
    {"clamp(x, -1.0f, y * y)",
     [](double x, double y, double) { return std::fmin(std::fmax(x, -1), y * y); }, 0},
    {"saturate(x)", [](double x, double, double) { return std::fmin(std::fmax(x, 0), 1); }, 0},
    {"sign(x)", [](double x, double, double) { return x > 0   ? 1.0
                                                      : x < 0 ? -1.0
                                                              : x; }, 0},
    {"fract(x)", [](double x, double, double) { return x - std::floor(x); }, 1, 0, 1e6},
    {"smoothstep(-1.0f, 4.0f, x)",
     [](double x, double, double) {
       const double t = std::fmin(std::fmax((x + 1) / 5, 0), 1);
       return t * t * (3 - 2 * t);
     },
     8, -0.9, 1e6},
};

}  // namespace

TEST_CASE("unary functions stay within their bounds") {
  test::check_table(kUnary);
}

TEST_CASE("binary and ternary functions stay within their bounds") {
  test::check_table(kBinary);
}

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
