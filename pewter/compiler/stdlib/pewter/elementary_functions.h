// Exponential, logarithmic, power and hyperbolic functions of one float. Part of metal_math.
//
// Straight-line code without tables: what one thread computes, the lanes of a vector compute with the same instructions
// and to the same bits on every machine. Every product that is added to something is a written fma, because products
// that are not would be fused or not as the code generator likes. Polynomials are minimax approximations.
#pragma once

#include <metal_config>

__pw_exact_begin

namespace metal {

// Whether the functions of metal itself are those of metal::fast; the code generator knows.
__pw_pure_builtin(__pw_has_fast_functions, "pewter.has_fast_functions", bool);

// Adding it rounds a number of less than 2^22 to an integer, which is then in the lowest bits, 254 added.
constexpr float __pw_rounding_shift = 0x1.8p23f + 254.0f;

// p times 2^n, rounded once, for n from -190 to 190 in the lowest bits of n + __pw_rounding_shift. Half of the factor
// goes with the first product, which is exact, so that subnormal results and those next to infinity come out right.
__pw_inline float __pw_scale(float p, float shifted, bool shrinks) {
  const float rest = shrinks ? 0x1.0p-64f : 0x1.0p64f;
  const unsigned factor = (__builtin_bit_cast(unsigned, shifted) << 23) - __builtin_bit_cast(unsigned, rest);
  return p * __builtin_bit_cast(float, factor) * rest;
}

// exp(r) - 1 for |r| <= ln(2) / 2.
__pw_inline float __pw_expm1_polynomial(float r) {
  float q = 0x1.6bec0ep-10f;
  q = __builtin_fmaf(q, r, 0x1.1227aep-7f);
  q = __builtin_fmaf(q, r, 0x1.555674p-5f);
  q = __builtin_fmaf(q, r, 0x1.5554b0p-3f);
  q = __builtin_fmaf(q, r, 0x1.fffffep-2f);
  return __builtin_fmaf(r * r, q, r);
}

// 2^r for |r| <= 1/2.
__pw_inline float __pw_exp2_polynomial(float r) {
  float p = 0x1.17a604p-13f;
  p = __builtin_fmaf(p, r, 0x1.5ef4b8p-10f);
  p = __builtin_fmaf(p, r, 0x1.3b680cp-7f);
  p = __builtin_fmaf(p, r, 0x1.c6af9ep-5f);
  p = __builtin_fmaf(p, r, 0x1.ebfb94p-3f);
  p = __builtin_fmaf(p, r, 0x1.62e430p-1f);
  return __builtin_fmaf(p, r, 1.0f);
}

// The comparisons keep NaN, and beyond the limits results are 0 and infinity.
__pw_inline float __pw_exp(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const float shifted = __builtin_fmaf(x, 0x1.715476p0f, __pw_rounding_shift);
  const float n = shifted - __pw_rounding_shift;
  float r = __builtin_fmaf(n, -0x1.62e430p-1f, x);
  r = __builtin_fmaf(n, 0x1.05c610p-29f, r);
  float q = 0x1.6a23bcp-10f;
  q = __builtin_fmaf(q, r, 0x1.123a1ep-7f);
  q = __builtin_fmaf(q, r, 0x1.5558f4p-5f);
  q = __builtin_fmaf(q, r, 0x1.555492p-3f);
  q = __builtin_fmaf(q, r, 0x1.fffffcp-2f);
  q = __builtin_fmaf(q, r, 1.0f);
  return __pw_scale(__builtin_fmaf(q, r, 1.0f), shifted, x < 0.0f);
}

__pw_inline float __pw_exp2(float x) {
  x = x > 129.0f ? 129.0f : x;
  x = x < -151.0f ? -151.0f : x;
  const float shifted = x + __pw_rounding_shift;
  return __pw_scale(__pw_exp2_polynomial(x - (shifted - __pw_rounding_shift)), shifted, x < 0.0f);
}

__pw_inline float __pw_exp10(float x) {
  x = x > 39.0f ? 39.0f : x;
  x = x < -46.0f ? -46.0f : x;
  const float shifted = __builtin_fmaf(x, 0x1.a934f0p1f, __pw_rounding_shift);
  const float n = shifted - __pw_rounding_shift;
  float r = __builtin_fmaf(n, -0x1.344136p-2f, x);
  r = __builtin_fmaf(n, 0x1.ec10c0p-27f, r);
  float p = 0x1.8356a0p-3f;
  p = __builtin_fmaf(p, r, 0x1.156270p-1f);
  p = __builtin_fmaf(p, r, 0x1.2bff9ap0f);
  p = __builtin_fmaf(p, r, 0x1.046fa6p1f);
  p = __builtin_fmaf(p, r, 0x1.535226p1f);
  p = __builtin_fmaf(p, r, 0x1.26bb1cp1f);
  return __pw_scale(__builtin_fmaf(p, r, 1.0f), shifted, x < 0.0f);
}

// 2^t, fast: t = n + r, where n is in the lowest bits of `shifted`, and n is added to the exponent of the polynomial of r.
// At the limits this is exactly 0 and infinity; in between results that are no normal numbers go to 0 as t does to -127.
__pw_inline float __pw_fast_exp2(float t) {
  t = t > 128.0f ? 128.0f : t;
  t = t < -127.0f ? -127.0f : t;
  const float shifted = t + 0x1.8p23f;
  const float r = t - (shifted - 0x1.8p23f);
  float p = 0x1.5bb99cp-10f;
  p = __builtin_fmaf(p, r, 0x1.3cea6ap-7f);
  p = __builtin_fmaf(p, r, 0x1.c6b70ap-5f);
  p = __builtin_fmaf(p, r, 0x1.ebf9bep-3f);
  p = __builtin_fmaf(p, r, 0x1.62e42ap-1f);
  p = __builtin_fmaf(p, r, 1.0f);
  const unsigned bits = __builtin_bit_cast(unsigned, p) + (__builtin_bit_cast(unsigned, shifted) << 23);
  const float result = __builtin_bit_cast(float, bits);
  // Always more than t, unless that is NaN.
  return result > t ? result : t;
}

__pw_inline float __pw_fast_exp(float x) {
  return __pw_fast_exp2(x * 0x1.715476p0f);
}

__pw_inline float __pw_fast_exp10(float x) {
  return __pw_fast_exp2(x * 0x1.a934f0p1f);
}

// x = (1 + result) * 2^exponent for positive x, where -1/3 <= result < 1/3.
__pw_inline float __pw_split(float x, float& exponent) {
  const bool subnormal = x < 0x1.0p-126f;
  const unsigned bits = __builtin_bit_cast(unsigned, subnormal ? x * 0x1.0p23f : x);
  const unsigned power = (bits - 0x3f2aaaabu) & 0xff800000u;
  exponent = __builtin_fmaf((float)(int)power, 0x1.0p-23f, subnormal ? -23.0f : 0.0f);
  return __builtin_bit_cast(float, bits - power) - 1.0f;
}

// The logarithm of x, which is `result` for positive and finite x.
__pw_inline float __pw_logarithm_of(float x, float result) {
  result = x < __builtin_inff() ? result : x;
  return x > 0.0f ? result : x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
}

// log(1 + f) for |f| <= 1/3.
__pw_inline float __pw_log1p_polynomial(float f) {
  float q = 0x1.1b0a22p-3f;
  q = __builtin_fmaf(q, f, -0x1.35b39cp-3f);
  q = __builtin_fmaf(q, f, 0x1.1f9618p-3f);
  q = __builtin_fmaf(q, f, -0x1.515a74p-3f);
  q = __builtin_fmaf(q, f, 0x1.99c320p-3f);
  q = __builtin_fmaf(q, f, -0x1.000b1cp-2f);
  q = __builtin_fmaf(q, f, 0x1.555528p-2f);
  q = __builtin_fmaf(q, f, -0.5f);
  return __builtin_fmaf(f * f, q, f);
}

__pw_inline float __pw_log(float x) {
  float n;
  const float f = __pw_split(x, n);
  return __pw_logarithm_of(x, __builtin_fmaf(n, 0x1.62e430p-1f, __pw_log1p_polynomial(f)));
}

__pw_inline float __pw_log2(float x) {
  float n;
  const float f = __pw_split(x, n);
  float p = 0x1.9f521ap-3f;
  p = __builtin_fmaf(p, f, -0x1.c71b74p-3f);
  p = __builtin_fmaf(p, f, 0x1.9d4810p-3f);
  p = __builtin_fmaf(p, f, -0x1.e4f06ap-3f);
  p = __builtin_fmaf(p, f, 0x1.27a3f8p-2f);
  p = __builtin_fmaf(p, f, -0x1.7172d2p-2f);
  p = __builtin_fmaf(p, f, 0x1.ec6ffep-2f);
  p = __builtin_fmaf(p, f, -0x1.715456p-1f);
  p = __builtin_fmaf(p, f, 0x1.715476p0f);
  return __pw_logarithm_of(x, __builtin_fmaf(p, f, n));
}

__pw_inline float __pw_log10(float x) {
  float n;
  const float f = __pw_split(x, n);
  float p = 0x1.f41892p-5f;
  p = __builtin_fmaf(p, f, -0x1.12007ap-4f);
  p = __builtin_fmaf(p, f, 0x1.f1a3f8p-5f);
  p = __builtin_fmaf(p, f, -0x1.23f662p-4f);
  p = __builtin_fmaf(p, f, 0x1.63fc96p-4f);
  p = __builtin_fmaf(p, f, -0x1.bcdc3ep-4f);
  p = __builtin_fmaf(p, f, 0x1.287a16p-3f);
  p = __builtin_fmaf(p, f, -0x1.bcb78ap-3f);
  p = __builtin_fmaf(p, f, 0x1.bcb7b2p-2f);
  // The rest of log10(2) counts where most of n's part is taken away again, for x a little above 4/3.
  const float rest = __builtin_fmaf(n, -0x1.ec10c0p-27f, p * f);
  return __pw_logarithm_of(x, __builtin_fmaf(n, 0x1.344136p-2f, rest));
}

// log(2^doublings * (1 + u)) for u > -1, accurate for small u.
__pw_inline float __pw_log1p(float u, float doublings) {
  const unsigned power = (__builtin_bit_cast(unsigned, 1.0f + u) - 0x3f2aaaabu) & 0xff800000u;
  const float scale = __builtin_bit_cast(float, 0x3f800000u - power);
  const float f = __builtin_fmaf(u, scale, scale - 1.0f);
  const float n = __builtin_fmaf((float)(int)power, 0x1.0p-23f, doublings);
  return __builtin_fmaf(n, 0x1.62e430p-1f, __pw_log1p_polynomial(f));
}

// a^y for a >= 0. The logarithm is a double: its error is multiplied by up to 150.
__pw_inline float __pw_power(float a, float y) {
  float n;
  const double f = __pw_split(a, n);
  double p = (double)0x1.67edecp-3f;
  p = __builtin_fma(p, f, -0x1.8178217207647p-3L);
  p = __builtin_fma(p, f, 0x1.3c3fdef35855ep-3L);
  p = __builtin_fma(p, f, -0x1.66bd86ff33e05p-3L);
  p = __builtin_fma(p, f, 0x1.a6ccc2743a41dp-3L);
  p = __builtin_fma(p, f, -0x1.ecf83b82e08ffp-3L);
  p = __builtin_fma(p, f, 0x1.277465085587dp-2L);
  p = __builtin_fma(p, f, -0x1.715317ddad0e1p-2L);
  p = __builtin_fma(p, f, 0x1.ec70a386733dbp-2L);
  p = __builtin_fma(p, f, -0x1.7154774eddaf2p-1L);
  p = __builtin_fma(p, f, 0x1.715476522924ep0L);
  // A finite exponent, because that of 1 is multiplied by 0.
  float finite = y > 0x1.fffffep127f ? 0x1.fffffep127f : y;
  finite = finite < -0x1.fffffep127f ? -0x1.fffffep127f : finite;
  double t = (double)finite * __builtin_fma(p, f, (double)n);
  t = t > (double)160.0f ? (double)160.0f : t;
  t = t < (double)-160.0f ? (double)-160.0f : t;
  const double whole = __builtin_elementwise_rint(t);
  const float exponent = (float)whole;
  float result = __pw_scale(__pw_exp2_polynomial((float)(t - whole)), exponent + __pw_rounding_shift,
                            exponent < 0.0f);
  result = a == 0.0f ? (y < 0.0f ? __builtin_inff() : 0.0f) : result;
  result = a == __builtin_inff() ? (y < 0.0f ? 0.0f : a) : result;
  result = a != a || y != y ? a + y : result;
  return y == 0.0f ? 1.0f : result;
}

__pw_inline float __pw_powr(float x, float y) {
  const float result = __pw_power(__builtin_fabsf(x), y);
  return x < 0.0f ? __builtin_nanf("") : x == 1.0f ? 1.0f : result;
}

__pw_inline float __pw_pow(float x, float y) {
  float result = __pw_power(__builtin_fabsf(x), y);
  const bool whole = __builtin_elementwise_trunc(y) == y;
  const bool odd = whole && __builtin_elementwise_trunc(y * 0.5f) != y * 0.5f;
  result = odd ? __builtin_copysignf(result, x) : result;
  // By the bits, because a comparison of both ends becomes a test of the class, which has no vector form.
  const bool finite_negative = __builtin_bit_cast(unsigned, x) - 0x80000001u < 0x7f7fffffu;
  result = finite_negative && !whole ? __builtin_nanf("") : result;
  return x == 1.0f ? 1.0f : result;
}

// (exp(x) - 1) / 4 for 0 <= x < 90, accurate for small x.
__pw_inline float __pw_quarter_expm1(float x) {
  const float shifted = __builtin_fmaf(x, 0x1.715476p0f, 0x1.8p23f + 125.0f);
  const float n = shifted - (0x1.8p23f + 125.0f);
  float r = __builtin_fmaf(n, -0x1.62e430p-1f, x);
  r = __builtin_fmaf(n, 0x1.05c610p-29f, r);
  const float scale = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, shifted) << 23);
  return __builtin_fmaf(scale, __pw_expm1_polynomial(r), scale - 0.25f);
}

__pw_inline float __pw_tanh(float x) {
  const float a = __builtin_fabsf(x);
  const float e = __pw_quarter_expm1(2.0f * (a > 10.0f ? 10.0f : a));
  return __builtin_copysignf(e / (e + 0.5f), x);
}

// Beyond 89.5, results are infinite.
__pw_inline float __pw_sinh(float x) {
  const float a = __builtin_fabsf(x);
  const float e = __pw_quarter_expm1(a > 89.5f ? 89.5f : a);
  return __builtin_copysignf(2.0f * (e + e / __builtin_fmaf(e, 4.0f, 1.0f)), x);
}

__pw_inline float __pw_cosh(float x) {
  const float a = __builtin_fabsf(x);
  const float e = __pw_quarter_expm1(a > 89.5f ? 89.5f : a) + 0.25f;
  return 2.0f * (e + 0.0625f / e);
}

__pw_inline float __pw_asinh(float x) {
  const float a = __builtin_fabsf(x);
  const bool large = a > 0x1.0p30f;
  const float square = a * a;
  const float u = a + square / (1.0f + __builtin_sqrtf(__builtin_fmaf(a, a, 1.0f)));
  const float result = __pw_log1p(large ? 0.25f * a : u, large ? 3.0f : 0.0f);
  return __builtin_copysignf(a < __builtin_inff() ? result : a, x);
}

__pw_inline float __pw_acosh(float x) {
  const bool large = x > 0x1.0p30f;
  const float t = x - 1.0f;
  const float u = t + __builtin_sqrtf(__builtin_fmaf(t, t, 2.0f * t));
  const float result = __pw_log1p(large ? 0.25f * x : u, large ? 3.0f : 0.0f);
  return x >= 1.0f ? (x < __builtin_inff() ? result : x) : __builtin_nanf("");
}

__pw_inline float __pw_atanh(float x) {
  const float a = __builtin_fabsf(x);
  const float result = 0.5f * __pw_log1p(2.0f * a / (1.0f - a), 0.0f);
  return __builtin_copysignf(a < 1.0f ? result : a == 1.0f ? __builtin_inff() : __builtin_nanf(""), x);
}

}  // namespace metal

__pw_exact_end
