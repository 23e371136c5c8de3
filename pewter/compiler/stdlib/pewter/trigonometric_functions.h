// Trigonometric functions of one float. Part of metal_math, and written as elementary_functions.h is.
#pragma once

#include <metal_config>

namespace metal {

// Arguments beyond it are reduced with more bits than three floats hold, by the executor.
constexpr float __pw_reduction_limit = 1.0e5f;

__pw_pure_builtin(__pw_far_cos, "air.cos.f32", float, float);
__pw_pure_builtin(__pw_far_sin, "air.sin.f32", float, float);
__pw_pure_builtin(__pw_far_tan, "air.tan.f32", float, float);

// x - n * pi.
__pw_inline float __pw_reduce_by_pi(float x, float n) {
  float r = __builtin_fmaf(n, -0x1.921fb6p1f, x);
  r = __builtin_fmaf(n, 0x1.777a5cp-24f, r);
  return __builtin_fmaf(n, 0x1.ee59dap-49f, r);
}

// sin(r) for |r| <= pi / 2.
__pw_inline float __pw_sin_polynomial(float r) {
  const float z = r * r;
  float p = 0x1.5dc754p-19f;
  p = __builtin_fmaf(p, z, -0x1.9f70e2p-13f);
  p = __builtin_fmaf(p, z, 0x1.110edap-7f);
  p = __builtin_fmaf(p, z, -0x1.55554cp-3f);
  return __builtin_fmaf(p, z, 1.0f) * r;
}

// sin(pi * r) for |r| <= 1/2.
__pw_inline float __pw_sinpi_polynomial(float r) {
  const float z = r * r;
  float p = 0x1.3daff6p-4f;
  p = __builtin_fmaf(p, z, -0x1.324ccap-1f);
  p = __builtin_fmaf(p, z, 0x1.4668b0p1f);
  p = __builtin_fmaf(p, z, -0x1.4abbc2p2f);
  return __builtin_fmaf(p, z, 0x1.921fb6p1f) * r;
}

// The lowest bit of `shifted` as the sign of x.
__pw_inline float __pw_negate_if_odd(float x, float shifted) {
  return __builtin_bit_cast(float,
                            __builtin_bit_cast(unsigned, x) ^ (__builtin_bit_cast(unsigned, shifted) << 31));
}

__pw_inline float __pw_sin(float x) {
  if (!(__builtin_fabsf(x) <= __pw_reduction_limit)) {
    return __pw_far_sin(x);
  }
  const float shifted = __builtin_fmaf(x, 0x1.45f306p-2f, 0x1.8p23f);
  const float r = __pw_reduce_by_pi(x, shifted - 0x1.8p23f);
  return __pw_negate_if_odd(__pw_sin_polynomial(r), shifted);
}

// x = (n + 1/2) * pi + r.
__pw_inline float __pw_cos(float x) {
  const float a = __builtin_fabsf(x);
  if (!(a <= __pw_reduction_limit)) {
    return __pw_far_cos(x);
  }
  const float shifted = __builtin_fmaf(a, 0x1.45f306p-2f, -0.5f) + 0x1.8p23f;
  const float r = __pw_reduce_by_pi(a, shifted - 0x1.8p23f + 0.5f);
  return __pw_negate_if_odd(__pw_sin_polynomial(-r), shifted);
}

__pw_inline float __pw_tan(float x) {
  if (!(__builtin_fabsf(x) <= __pw_reduction_limit)) {
    return __pw_far_tan(x);
  }
  const float shifted = __builtin_fmaf(x, 0x1.45f306p-1f, 0x1.8p23f);
  const float r = __pw_reduce_by_pi(x, (shifted - 0x1.8p23f) * 0.5f);
  const float z = r * r;
  float s = -0x1.9951eap-13f;
  s = __builtin_fmaf(s, z, 0x1.110774p-7f);
  s = __builtin_fmaf(s, z, -0x1.555546p-3f);
  s = __builtin_fmaf(s, z, 1.0f) * r;
  float c = 0x1.99e80cp-16f;
  c = __builtin_fmaf(c, z, -0x1.6c0c28p-10f);
  c = __builtin_fmaf(c, z, 0x1.55554ap-5f);
  c = __builtin_fmaf(c, z, -0.5f);
  c = __builtin_fmaf(c, z, 1.0f);
  const bool odd = (__builtin_bit_cast(unsigned, shifted) & 1u) != 0;
  return (odd ? -c : s) / (odd ? s : c);
}

// x - 2 * round(x / 2), exactly, in [-1, 1].
__pw_inline float __pw_reduce_to_one_turn(float x) {
  return __builtin_fmaf(__builtin_elementwise_rint(x * 0.5f), -2.0f, x);
}

// Zeros have the sign of x.
__pw_inline float __pw_sinpi(float x) {
  const float turn = __pw_reduce_to_one_turn(x);
  const float a = __builtin_fabsf(turn);
  const float r = a > 0.5f ? 1.0f - a : a;
  return __builtin_copysignf(__pw_sinpi_polynomial(r), r == 0.0f ? x : turn);
}

__pw_inline float __pw_cospi(float x) {
  return __pw_sinpi_polynomial(0.5f - __builtin_fabsf(__pw_reduce_to_one_turn(x)));
}

__pw_inline float __pw_tanpi(float x) {
  const float r = x - __builtin_elementwise_rint(x);
  const float a = __builtin_fabsf(r);
  return __builtin_copysignf(__pw_sinpi_polynomial(a) / __pw_sinpi_polynomial(0.5f - a), r == 0.0f ? x : r);
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
