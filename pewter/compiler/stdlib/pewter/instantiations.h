// Uses what most programs use, so that it is instantiated once, in the precompiled header.
//
// Clang instantiates a constant function where it is first named. Constructors and copies matter most: defining one
// reads every member of the class from the precompiled header, and vectors have hundreds.
#pragma once

#include <metal_stdlib>

namespace metal {

template <typename T, int N>
__pw_const void __pw_use_vector(vec<T, N>& v, packed_vec<T, N>& p, T s) {
  vec<T, N> copied(v), assigned(s), raw(__pw_raw(), v.__v), moved(static_cast<vec<T, N>&&>(copied));
  assigned = moved;
  assigned = static_cast<vec<T, N>&&>(raw);
  packed_vec<T, N> packed(p), packed_moved(static_cast<packed_vec<T, N>&&>(packed)), from_vector(v);
  packed = from_vector;
  packed = static_cast<packed_vec<T, N>&&>(packed_moved);
  v = packed;
  p = v;
}

#define __pw_use_vectors(T)                                                                               \
  inline void __pw_use(vec<T, 2>& a, vec<T, 3>& b, vec<T, 4>& c, packed_vec<T, 2>& pa, packed_vec<T, 3>& pb, \
                       packed_vec<T, 4>& pc, T s) {                                                       \
    __pw_use_vector(a, pa, s);                                                                            \
    __pw_use_vector(b, pb, s);                                                                            \
    __pw_use_vector(c, pc, s);                                                                            \
    a = vec<T, 2>(s, s);                                                                                  \
    b = vec<T, 3>(s, s, s);                                                                               \
    b = vec<T, 3>(a, s);                                                                                  \
    b = vec<T, 3>(s, a);                                                                                  \
    c = vec<T, 4>(s, s, s, s);                                                                            \
    c = vec<T, 4>(a, s, s);                                                                               \
    c = vec<T, 4>(s, a, s);                                                                               \
    c = vec<T, 4>(s, s, a);                                                                               \
    c = vec<T, 4>(a, a);                                                                                  \
    c = vec<T, 4>(b, s);                                                                                  \
    c = vec<T, 4>(s, b);                                                                                  \
  }
__pw_use_vectors(bool)
__pw_use_vectors(char)
__pw_use_vectors(uchar)
__pw_use_vectors(short)
__pw_use_vectors(ushort)
__pw_use_vectors(int)
__pw_use_vectors(uint)
__pw_use_vectors(long)
__pw_use_vectors(ulong)
__pw_use_vectors(half)
__pw_use_vectors(bfloat)
__pw_use_vectors(float)
#undef __pw_use_vectors

// Components, operators and functions of the types that kernels are full of.
#define __pw_use_operators(op)    \
  v = v op v;                     \
  v = v op s;                     \
  v = s op v;                     \
  v op##= v;                      \
  v op##= s;
#define __pw_use_comparisons(op)  \
  all(v op v);                    \
  any(v op s);
template <typename T, int N>
__pw_const void __pw_use_arithmetic(vec<T, N>& v, T s) {
  __pw_use_operators(+) __pw_use_operators(-) __pw_use_operators(*) __pw_use_operators(/)
  __pw_use_comparisons(==) __pw_use_comparisons(!=) __pw_use_comparisons(<) __pw_use_comparisons(>)
  __pw_use_comparisons(<=) __pw_use_comparisons(>=)
  v = -v;
  v[0] = v[1];
  v.__put_x(v.__get_x());
  v.__put_y(v.__get_y());
  v.__put_xy(v.__get_xy());
  if constexpr (N > 2) {
    v.__put_z(v.__get_z());
    v.__put_xyz(v.__get_xyz());
  }
  if constexpr (N > 3) {
    v.__put_w(v.__get_w());
    v.__put_zw(v.__get_zw());
  }
  v = max(v, v);
  v = min(v, s);
  v = clamp(v, v, v);
}
template <typename T, int N>
__pw_const void __pw_use_bits(vec<T, N>& v, T s) {
  __pw_use_operators(%) __pw_use_operators(&) __pw_use_operators(|) __pw_use_operators(^)
  v = v << v;
  v = v << s;
  v = v >> v;
  v = v >> s;
}
template <typename T, int N>
__pw_const void __pw_use_math(vec<T, N>& v, T s) {
  s = dot(v, v) + length(v) + distance(v, v);
  v = normalize(v);
  v = sqrt(v);
  v = exp(v);
  v = fma(v, v, v);
}
#define __pw_use_arithmetic_of(T, more)                                                    \
  inline void __pw_use_arithmetic_types(vec<T, 2>& a, vec<T, 3>& b, vec<T, 4>& c, T s) {   \
    __pw_use_arithmetic(a, s);                                                             \
    __pw_use_arithmetic(b, s);                                                             \
    __pw_use_arithmetic(c, s);                                                             \
    more(a, s);                                                                            \
    more(b, s);                                                                            \
    more(c, s);                                                                            \
  }
__pw_use_arithmetic_of(float, __pw_use_math)
__pw_use_arithmetic_of(half, __pw_use_math)
__pw_use_arithmetic_of(int, __pw_use_bits)
__pw_use_arithmetic_of(uint, __pw_use_bits)
#undef __pw_use_arithmetic_of
#undef __pw_use_operators
#undef __pw_use_comparisons

}  // namespace metal
