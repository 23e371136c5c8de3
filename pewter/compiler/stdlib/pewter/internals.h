// Names of Metal's own compiler built-ins that programs are known to call.
#pragma once

#include <metal_common>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>

// The last argument chooses between fast and precise and changes nothing here.
#define __pw_internal1(internal, name)                                                    \
  template <typename T>                                                                   \
  __pw_inline T __metal_##internal(T x, bool fast = false) { return metal::name(x); }
#define __pw_internal2(internal, name)                                                    \
  template <typename T>                                                                   \
  __pw_inline T __metal_##internal(T x, T y, bool fast = false) { return metal::name(x, y); }
#define __pw_internal3(internal, name)                                                    \
  template <typename T>                                                                   \
  __pw_inline T __metal_##internal(T x, T y, T z, bool fast = false) { return metal::name(x, y, z); }
#define __pw_same1(name) __pw_internal1(name, name)
#define __pw_same2(name) __pw_internal2(name, name)
#define __pw_same3(name) __pw_internal3(name, name)

__pw_same1(acos) __pw_same1(acosh) __pw_same1(asin) __pw_same1(asinh) __pw_same1(atan) __pw_same1(atanh)
__pw_same1(ceil) __pw_same1(cos) __pw_same1(cosh) __pw_same1(cospi) __pw_same1(exp) __pw_same1(exp10)
__pw_same1(exp2) __pw_same1(fabs) __pw_same1(floor) __pw_same1(fract) __pw_same1(log) __pw_same1(log10)
__pw_same1(log2) __pw_same1(rint) __pw_same1(round) __pw_same1(rsqrt) __pw_same1(sin) __pw_same1(sinh)
__pw_same1(sinpi) __pw_same1(sqrt) __pw_same1(tan) __pw_same1(tanh) __pw_same1(tanpi) __pw_same1(trunc)
__pw_same2(atan2) __pw_same2(copysign) __pw_same2(divide) __pw_same2(fmax) __pw_same2(fmin) __pw_same2(fmod)
__pw_same2(nextafter) __pw_same2(pow) __pw_same2(powr)
__pw_same3(fma) __pw_same3(fmax3) __pw_same3(fmedian3) __pw_same3(fmin3)
#undef __pw_same1
#undef __pw_same2
#undef __pw_same3
#undef __pw_internal1
#undef __pw_internal2
#undef __pw_internal3

template <typename T>
__pw_inline T __metal_frexp(T x, int* exponent) {
  return metal::frexp(x, *exponent);
}
template <typename T>
__pw_inline T __metal_ldexp(T x, int k, bool fast = false) {
  return metal::ldexp(x, k);
}

#define __pw_simd_reduction(name)                                                       \
  template <typename T>                                                                 \
  __pw_convergent __pw_inline T __metal_simd_##name(T x) { return metal::simd_##name(x); }
__pw_simd_reduction(max)
__pw_simd_reduction(min)
__pw_simd_reduction(prefix_exclusive_product)
__pw_simd_reduction(prefix_exclusive_sum)
__pw_simd_reduction(prefix_inclusive_product)
__pw_simd_reduction(prefix_inclusive_sum)
__pw_simd_reduction(product)
__pw_simd_reduction(sum)
#undef __pw_simd_reduction
// Unlike the function of the library, these take floating-point numbers too, by their bits.
#define __pw_simd_bits(name)                                                                    \
  template <typename T>                                                                         \
  __pw_convergent __pw_inline T __metal_simd_##name(T x) {                                      \
    if constexpr (sizeof(T) == 8) {                                                             \
      return __builtin_bit_cast(T, metal::simd_##name(__builtin_bit_cast(ulong, x)));           \
    } else if constexpr (sizeof(T) == 4) {                                                      \
      return __builtin_bit_cast(T, metal::simd_##name(__builtin_bit_cast(uint, x)));            \
    } else {                                                                                    \
      return __builtin_bit_cast(T, metal::simd_##name(__builtin_bit_cast(ushort, x)));          \
    }                                                                                           \
  }
__pw_simd_bits(and)
__pw_simd_bits(or)
__pw_simd_bits(xor)
#undef __pw_simd_bits

#define __pw_simd_move(name)                                                            \
  template <typename T>                                                                 \
  __pw_convergent __pw_inline T __metal_simd_##name(T x, ushort lane) { return metal::simd_##name(x, lane); }
__pw_simd_move(broadcast)
__pw_simd_move(shuffle)
__pw_simd_move(shuffle_down)
__pw_simd_move(shuffle_rotate_down)
__pw_simd_move(shuffle_rotate_up)
__pw_simd_move(shuffle_up)
__pw_simd_move(shuffle_xor)
#undef __pw_simd_move

template <typename T>
__pw_convergent __pw_inline T __metal_simd_shuffle_and_fill_up(T x, T fill, ushort delta, ushort modulo) {
  return metal::simd_shuffle_and_fill_up(x, fill, delta, modulo);
}
template <typename T>
__pw_convergent __pw_inline T __metal_simd_shuffle_and_fill_down(T x, T fill, ushort delta, ushort modulo) {
  return metal::simd_shuffle_and_fill_down(x, fill, delta, modulo);
}

// The argument gives the type of the result.
template <typename T>
__pw_inline T __metal_get_simdgroup_size(T) {
  return 32;
}
template <typename T>
__pw_inline T __metal_get_thread_index_in_simdgroup(T) {
  return (T)__pw_thread_index_in_simdgroup();
}
