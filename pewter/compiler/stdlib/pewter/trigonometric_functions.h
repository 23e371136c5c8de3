// Trigonometric functions of one float. Part of metal_math, and written as elementary_functions.h is.
#pragma once

#include <metal_config>

__pw_exact_begin

namespace metal {

// Arguments beyond it are reduced with more bits than three floats hold, by the executor.
constexpr float __pw_reduction_limit = 1.0e5f;

__pw_pure_builtin(__pw_far_cos, "air.cos.f32", float, float);
__pw_pure_builtin(__pw_far_sin, "air.sin.f32", float, float);
__pw_pure_builtin(__pw_far_tan, "air.tan.f32", float, float);

// Half turns are counted in the lowest bits of n + __pw_quadrant_shift.
constexpr float __pw_quadrant_shift = 0x1.8p23f;

// x = n * pi / 2 + result. The parts of pi / 2 are rounded down, so that the sign of zero is kept.
__pw_inline float __pw_reduce_to_quadrant(float x, float& shifted) {
  shifted = __builtin_fmaf(x, 0x1.45f306p-1f, __pw_quadrant_shift);
  const float n = shifted - __pw_quadrant_shift;
  float r = __builtin_fmaf(n, -0x1.921fb4p0f, x);
  r = __builtin_fmaf(n, -0x1.4442d0p-24f, r);
  return __builtin_fmaf(n, -0x1.846988p-48f, r);
}

// sin(r) and cos(r) for |r| <= pi / 4.
__pw_inline float __pw_sin_polynomial(float r) {
  const float z = r * r;
  float p = -0x1.9951eap-13f;
  p = __builtin_fmaf(p, z, 0x1.110774p-7f);
  p = __builtin_fmaf(p, z, -0x1.555546p-3f);
  return __builtin_fmaf(p, z, 1.0f) * r;
}
__pw_inline float __pw_cos_polynomial(float r) {
  const float z = r * r;
  float p = 0x1.99e80cp-16f;
  p = __builtin_fmaf(p, z, -0x1.6c0c28p-10f);
  p = __builtin_fmaf(p, z, 0x1.55554ap-5f);
  p = __builtin_fmaf(p, z, -0.5f);
  return __builtin_fmaf(p, z, 1.0f);
}

// sin(r + quadrant * pi / 2).
__pw_inline float __pw_sin_in_quadrant(float r, unsigned quadrant) {
  const float result = (quadrant & 1u) != 0 ? __pw_cos_polynomial(r) : __pw_sin_polynomial(r);
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, result) ^ ((quadrant & 2u) << 30));
}

// tan(r + quadrant * pi / 2).
__pw_inline float __pw_tan_in_quadrant(float r, unsigned quadrant) {
  const float s = __pw_sin_polynomial(r);
  const float c = __pw_cos_polynomial(r);
  return (quadrant & 1u) != 0 ? -c / s : s / c;
}

__pw_inline float __pw_sin(float x) {
  if (!(__builtin_fabsf(x) <= __pw_reduction_limit)) {
    return __pw_far_sin(x);
  }
  float shifted;
  const float r = __pw_reduce_to_quadrant(x, shifted);
  return __pw_sin_in_quadrant(r, __builtin_bit_cast(unsigned, shifted));
}

__pw_inline float __pw_cos(float x) {
  if (!(__builtin_fabsf(x) <= __pw_reduction_limit)) {
    return __pw_far_cos(x);
  }
  float shifted;
  const float r = __pw_reduce_to_quadrant(x, shifted);
  return __pw_sin_in_quadrant(r, __builtin_bit_cast(unsigned, shifted) + 1u);
}

__pw_inline float __pw_tan(float x) {
  if (!(__builtin_fabsf(x) <= __pw_reduction_limit)) {
    return __pw_far_tan(x);
  }
  float shifted;
  const float r = __pw_reduce_to_quadrant(x, shifted);
  return __pw_tan_in_quadrant(r, __builtin_bit_cast(unsigned, shifted));
}

// pi * x = shifted quadrants + result, less whole turns; all but the last product is exact.
__pw_inline float __pw_reduce_half_turns(float x, float& shifted) {
  const float turn = __builtin_fmaf(__builtin_elementwise_rint(x * 0.5f), -2.0f, x);
  shifted = __builtin_fmaf(turn, 2.0f, __pw_quadrant_shift);
  return __builtin_fmaf(shifted - __pw_quadrant_shift, -0.5f, turn) * 0x1.921fb6p1f;
}

// Zeros have the sign of x.
__pw_inline float __pw_sinpi(float x) {
  float shifted;
  const float r = __pw_reduce_half_turns(x, shifted);
  const float result = __pw_sin_in_quadrant(r, __builtin_bit_cast(unsigned, shifted));
  return result == 0.0f ? __builtin_copysignf(0.0f, x) : result;
}

// Zeros are positive.
__pw_inline float __pw_cospi(float x) {
  float shifted;
  const float r = __pw_reduce_half_turns(x, shifted);
  // By its bits: modes that do not care for signs of zeros would leave a comparison out.
  const unsigned result =
      __builtin_bit_cast(unsigned, __pw_sin_in_quadrant(r, __builtin_bit_cast(unsigned, shifted) + 1u));
  return __builtin_bit_cast(float, result << 1 == 0u ? 0u : result);
}

// Zeros have the sign of x, infinities that of x - round(x).
__pw_inline float __pw_tanpi(float x) {
  float shifted;
  const float r = __pw_reduce_half_turns(x, shifted);
  const float result = __pw_tan_in_quadrant(r, __builtin_bit_cast(unsigned, shifted));
  const float part = x - __builtin_elementwise_rint(x);
  return __builtin_copysignf(result, part == 0.0f ? x : part);
}

// asin(s) for 0 <= s <= 1/2, where z = s * s.
__pw_inline float __pw_asin_polynomial(float s, float z) {
  float p = 0x1.596cf0p-5f;
  p = __builtin_fmaf(p, z, 0x1.8c2880p-6f);
  p = __builtin_fmaf(p, z, 0x1.747e42p-5f);
  p = __builtin_fmaf(p, z, 0x1.3301e4p-4f);
  p = __builtin_fmaf(p, z, 0x1.5555c8p-3f);
  return __builtin_fmaf(s * z, p, s);
}

// Beyond 1/2, asin(a) = pi / 2 - 2 * asin(sqrt((1 - a) / 2)).
__pw_inline float __pw_asin(float x) {
  const float a = __builtin_fabsf(x);
  const bool far = a > 0.5f;
  const float z = far ? __builtin_fmaf(a, -0.5f, 0.5f) : a * a;
  const float p = __pw_asin_polynomial(far ? __builtin_sqrtf(z) : a, z);
  return __builtin_copysignf(far ? __builtin_fmaf(p, -2.0f, 0x1.921fb6p0f) : p, x);
}

__pw_inline float __pw_acos(float x) {
  const float a = __builtin_fabsf(x);
  const bool far = a > 0.5f;
  const float z = far ? __builtin_fmaf(a, -0.5f, 0.5f) : a * a;
  const float p = __pw_asin_polynomial(far ? __builtin_sqrtf(z) : a, z);
  const float near_result = 0x1.921fb6p0f - __builtin_copysignf(p, x);
  const float far_result = x < 0.0f ? __builtin_fmaf(p, -2.0f, 0x1.921fb6p1f) : 2.0f * p;
  return far ? far_result : near_result;
}

// atan(s) for 0 <= s <= 1.
__pw_inline float __pw_atan_polynomial(float s) {
  const float z = s * s;
  float p = 0x1.7ed3acp-9f;
  p = __builtin_fmaf(p, z, -0x1.0c2cdep-6f);
  p = __builtin_fmaf(p, z, 0x1.61fe8ap-5f);
  p = __builtin_fmaf(p, z, -0x1.355708p-4f);
  p = __builtin_fmaf(p, z, 0x1.b4e154p-4f);
  p = __builtin_fmaf(p, z, -0x1.230ae2p-3f);
  p = __builtin_fmaf(p, z, 0x1.9978f4p-3f);
  p = __builtin_fmaf(p, z, -0x1.5554dcp-2f);
  return __builtin_fmaf(s * z, p, s);
}

__pw_inline float __pw_atan(float x) {
  const float a = __builtin_fabsf(x);
  const bool far = a > 1.0f;
  const float p = __pw_atan_polynomial(far ? 1.0f / a : a);
  return __builtin_copysignf(far ? 0x1.921fb6p0f - p : p, x);
}

// The angle of the point (x, y), from the quotient of its smaller and its larger coordinate.
__pw_inline float __pw_atan2(float y, float x) {
  const float a = __builtin_fabsf(x);
  const float b = __builtin_fabsf(y);
  const bool steep = b > a;
  const float larger = steep ? b : a;
  float quotient = (steep ? a : b) / larger;
  quotient = larger == 0.0f ? 0.0f : quotient;
  quotient = a == __builtin_inff() && b == __builtin_inff() ? 1.0f : quotient;
  float angle = __pw_atan_polynomial(quotient);
  angle = steep ? 0x1.921fb6p0f - angle : angle;
  angle = __builtin_bit_cast(int, x) < 0 ? 0x1.921fb6p1f - angle : angle;
  return __builtin_copysignf(x != x || y != y ? x + y : angle, y);
}

}  // namespace metal

__pw_exact_end
