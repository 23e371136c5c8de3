// Types that headers share between C++ and Metal, under the names that they have in both.
#pragma once

#include <metal_matrix>
#include <metal_types>

#define __pw_simd_vector(T, name)         \
  using simd_##name##2 = metal::vec<T, 2>; \
  using simd_##name##3 = metal::vec<T, 3>; \
  using simd_##name##4 = metal::vec<T, 4>; \
  using vector_##name##2 = metal::vec<T, 2>; \
  using vector_##name##3 = metal::vec<T, 3>; \
  using vector_##name##4 = metal::vec<T, 4>; \
  namespace simd {                        \
  using name##2 = metal::vec<T, 2>;       \
  using name##3 = metal::vec<T, 3>;       \
  using name##4 = metal::vec<T, 4>;       \
  }
__pw_simd_vector(bool, bool)
__pw_simd_vector(char, char)
__pw_simd_vector(uchar, uchar)
__pw_simd_vector(short, short)
__pw_simd_vector(ushort, ushort)
__pw_simd_vector(int, int)
__pw_simd_vector(uint, uint)
__pw_simd_vector(long, long)
__pw_simd_vector(ulong, ulong)
__pw_simd_vector(half, half)
__pw_simd_vector(float, float)
#undef __pw_simd_vector

#define __pw_simd_packed(T)                              \
  using simd_packed_##T##2 = metal::packed_vec<T, 2>;    \
  using simd_packed_##T##4 = metal::packed_vec<T, 4>;    \
  namespace simd {                                       \
  using packed_##T##2 = metal::packed_vec<T, 2>;         \
  using packed_##T##4 = metal::packed_vec<T, 4>;         \
  }
__pw_simd_packed(char)
__pw_simd_packed(uchar)
__pw_simd_packed(short)
__pw_simd_packed(ushort)
__pw_simd_packed(int)
__pw_simd_packed(uint)
__pw_simd_packed(long)
__pw_simd_packed(ulong)
__pw_simd_packed(half)
__pw_simd_packed(float)
#undef __pw_simd_packed

#define __pw_simd_matrix(T, C, R)                  \
  using simd_##T##C##x##R = metal::matrix<T, C, R>;   \
  using matrix_##T##C##x##R = metal::matrix<T, C, R>; \
  namespace simd {                                 \
  using T##C##x##R = metal::matrix<T, C, R>;       \
  }
#define __pw_simd_matrices(T)                                                          \
  __pw_simd_matrix(T, 2, 2) __pw_simd_matrix(T, 2, 3) __pw_simd_matrix(T, 2, 4)        \
  __pw_simd_matrix(T, 3, 2) __pw_simd_matrix(T, 3, 3) __pw_simd_matrix(T, 3, 4)        \
  __pw_simd_matrix(T, 4, 2) __pw_simd_matrix(T, 4, 3) __pw_simd_matrix(T, 4, 4)
__pw_simd_matrices(float)
__pw_simd_matrices(half)
#undef __pw_simd_matrices
#undef __pw_simd_matrix
