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

}  // namespace metal
