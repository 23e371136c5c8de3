// Functions that take floating-point numbers apart, and those with a second result. Part of metal_math.
#pragma once

#include <metal_math>

__pw_exact_begin

namespace metal {

// x times 2 to the power k, rounded once: the factors before the last are exact.
__pw_inline float ldexp(float x, int k) {
  for (int step = 0; step < 2; ++step) {
    if (k > 127) {
      x *= 0x1.0p127f;
      k -= 127;
    } else if (k < -126) {
      // 2^-102 keeps 24 bits in hand, so that a subnormal result is rounded by the last factor alone.
      x *= 0x1.0p-102f;
      k += 102;
    }
  }
  k = k > 127 ? 127 : k < -126 ? -126 : k;
  return x * __builtin_bit_cast(float, (k + 127) << 23);
}
__pw_inline half ldexp(half x, int k) { return (half)ldexp((float)x, k); }

// Mantissa in [1/2, 1) and exponent; zero, infinity and NaN are returned as they are, with exponent 0.
__pw_inline float frexp(float x, int& exponent) {
  const float magnitude = __builtin_fabsf(x);
  if (!(magnitude > 0.0f) || magnitude == __builtin_inff()) {
    exponent = 0;
    return x;
  }
  const bool subnormal = magnitude < 0x1.0p-126f;
  const int bits = __builtin_bit_cast(int, subnormal ? x * 0x1.0p24f : x);
  exponent = ((bits >> 23) & 0xff) - 126 - (subnormal ? 24 : 0);
  return __builtin_bit_cast(float, (bits & (int)0x807fffff) | 0x3f000000);
}
__pw_inline half frexp(half x, int& exponent) { return (half)frexp((float)x, exponent); }

// As in C: INT_MIN for zero, INT_MAX for infinity and NaN.
__pw_inline int ilogb(float x) {
  const float magnitude = __builtin_fabsf(x);
  if (magnitude == 0.0f) {
    return INT_MIN;
  }
  if (!(magnitude < __builtin_inff())) {
    return INT_MAX;
  }
  int exponent = 0;
  frexp(x, exponent);
  return exponent - 1;
}
__pw_inline int ilogb(half x) { return ilogb((float)x); }

__pw_inline float modf(float x, float& whole) {
  whole = trunc(x);
  const float part = __builtin_fabsf(x) == __builtin_inff() ? 0.0f : x - whole;
  return __builtin_copysignf(part, x);
}
__pw_inline half modf(half x, half& whole) {
  whole = trunc(x);
  const half part = __builtin_fabsf16(x) == (half)__builtin_inff() ? (half)0 : (half)(x - whole);
  return __builtin_copysignf16(part, x);
}

__pw_inline float sincos(float x, float& cosine) {
  cosine = cos(x);
  return sin(x);
}
__pw_inline half sincos(half x, half& cosine) {
  cosine = cos(x);
  return sin(x);
}

// Numbers are ordered like their bits as sign and magnitude, so the neighbour is one step in the bits.
#define __pw_define_nextafter(T, Bits, SignBit)                                          \
  __pw_inline T nextafter(T x, T y) {                                                    \
    if (x != x || y != y) {                                                              \
      return x + y;                                                                      \
    }                                                                                    \
    if (x == y) {                                                                        \
      return y;                                                                          \
    }                                                                                    \
    const Bits bits = __builtin_bit_cast(Bits, x);                                       \
    if ((Bits)(bits << 1) == 0) {                                                        \
      return __builtin_bit_cast(T, (Bits)((__builtin_bit_cast(Bits, y) & SignBit) | 1)); \
    }                                                                                    \
    const bool grows = (x < y) == (x > (T)0);                                            \
    return __builtin_bit_cast(T, (Bits)(grows ? bits + 1 : bits - 1));                   \
  }
__pw_define_nextafter(float, uint, 0x80000000U)
__pw_define_nextafter(half, ushort, (ushort)0x8000)
#undef __pw_define_nextafter

__pw_vectors2(T, nextafter, __pw_is_math)
__pw_vectors1(int, ilogb, __pw_is_math)
__pw_promote2(nextafter, __pw_promotes)

// Vector forms with a second result or an integer vector.
template <typename T, int N, __pw_when<__pw_is_math<T>> = 0>
__pw_const vec<T, N> ldexp(vec<T, N> x, __pw_identity<vec<int, N>> k) {
  vec<T, N> result;
  for (int i = 0; i < N; ++i) {
    result[i] = ldexp(x[i], k[i]);
  }
  return result;
}
template <typename T, int N, __pw_when<__pw_is_math<T>> = 0>
__pw_const vec<T, N> frexp(vec<T, N> x, vec<int, N>& exponent) {
  vec<T, N> result;
  vec<int, N> exponents;
  for (int i = 0; i < N; ++i) {
    result[i] = frexp(x[i], exponents[i]);
  }
  exponent = exponents;
  return result;
}
template <typename T, int N, __pw_when<__pw_is_math<T>> = 0>
__pw_const vec<T, N> modf(vec<T, N> x, vec<T, N>& whole) {
  vec<T, N> result, wholes;
  for (int i = 0; i < N; ++i) {
    result[i] = modf(x[i], wholes[i]);
  }
  whole = wholes;
  return result;
}
template <typename T, int N, __pw_when<__pw_is_math<T>> = 0>
__pw_const vec<T, N> sincos(vec<T, N> x, vec<T, N>& cosine) {
  cosine = cos(x);
  return sin(x);
}

}  // namespace metal

__pw_exact_end
