// Macros that declare one function for a scalar type and its vectors.
//
// The functions are plain overloads, not templates, because Metal's are: arguments convert as they would for any
// overloaded function, so a packed vector or a scalar is accepted where a vector is expected, and a call that mixes
// types is ambiguous exactly where it is in Metal.
#pragma once

#include <metal_types>

// Vector forms, each component computed by the scalar form. R is the element type of the result.
#define __pw_vectors1(R, name, T)                                                               \
  __pw_inline vec<R, 2> name(vec<T, 2> x) { return vec<R, 2>(name((T)x.__v[0]), name((T)x.__v[1])); } \
  __pw_inline vec<R, 3> name(vec<T, 3> x) {                                                     \
    return vec<R, 3>(name((T)x.__v[0]), name((T)x.__v[1]), name((T)x.__v[2]));                  \
  }                                                                                             \
  __pw_inline vec<R, 4> name(vec<T, 4> x) {                                                     \
    return vec<R, 4>(name((T)x.__v[0]), name((T)x.__v[1]), name((T)x.__v[2]), name((T)x.__v[3])); \
  }
#define __pw_vectors2(R, name, T)                                                               \
  __pw_inline vec<R, 2> name(vec<T, 2> x, vec<T, 2> y) {                                        \
    return vec<R, 2>(name((T)x.__v[0], (T)y.__v[0]), name((T)x.__v[1], (T)y.__v[1]));           \
  }                                                                                             \
  __pw_inline vec<R, 3> name(vec<T, 3> x, vec<T, 3> y) {                                        \
    return vec<R, 3>(name((T)x.__v[0], (T)y.__v[0]), name((T)x.__v[1], (T)y.__v[1]),            \
                     name((T)x.__v[2], (T)y.__v[2]));                                           \
  }                                                                                             \
  __pw_inline vec<R, 4> name(vec<T, 4> x, vec<T, 4> y) {                                        \
    return vec<R, 4>(name((T)x.__v[0], (T)y.__v[0]), name((T)x.__v[1], (T)y.__v[1]),            \
                     name((T)x.__v[2], (T)y.__v[2]), name((T)x.__v[3], (T)y.__v[3]));           \
  }
#define __pw_vectors3(R, name, T)                                                               \
  __pw_inline vec<R, 2> name(vec<T, 2> x, vec<T, 2> y, vec<T, 2> z) {                           \
    return vec<R, 2>(name((T)x.__v[0], (T)y.__v[0], (T)z.__v[0]),                               \
                     name((T)x.__v[1], (T)y.__v[1], (T)z.__v[1]));                              \
  }                                                                                             \
  __pw_inline vec<R, 3> name(vec<T, 3> x, vec<T, 3> y, vec<T, 3> z) {                           \
    return vec<R, 3>(name((T)x.__v[0], (T)y.__v[0], (T)z.__v[0]),                               \
                     name((T)x.__v[1], (T)y.__v[1], (T)z.__v[1]),                               \
                     name((T)x.__v[2], (T)y.__v[2], (T)z.__v[2]));                              \
  }                                                                                             \
  __pw_inline vec<R, 4> name(vec<T, 4> x, vec<T, 4> y, vec<T, 4> z) {                           \
    return vec<R, 4>(name((T)x.__v[0], (T)y.__v[0], (T)z.__v[0]),                               \
                     name((T)x.__v[1], (T)y.__v[1], (T)z.__v[1]),                               \
                     name((T)x.__v[2], (T)y.__v[2], (T)z.__v[2]),                               \
                     name((T)x.__v[3], (T)y.__v[3], (T)z.__v[3]));                              \
  }

// Vector forms whose components are computed together: `call` takes Clang vectors.
#define __pw_whole_vectors1(name, T, call)                                                      \
  __pw_inline vec<T, 2> name(vec<T, 2> x) { return vec<T, 2>(__pw_raw(), call(x.__v)); }        \
  __pw_inline vec<T, 3> name(vec<T, 3> x) { return vec<T, 3>(__pw_raw(), call(x.__v)); }        \
  __pw_inline vec<T, 4> name(vec<T, 4> x) { return vec<T, 4>(__pw_raw(), call(x.__v)); }
#define __pw_whole_vectors2(name, T, call)                                                      \
  __pw_inline vec<T, 2> name(vec<T, 2> x, vec<T, 2> y) { return vec<T, 2>(__pw_raw(), call(x.__v, y.__v)); } \
  __pw_inline vec<T, 3> name(vec<T, 3> x, vec<T, 3> y) { return vec<T, 3>(__pw_raw(), call(x.__v, y.__v)); } \
  __pw_inline vec<T, 4> name(vec<T, 4> x, vec<T, 4> y) { return vec<T, 4>(__pw_raw(), call(x.__v, y.__v)); }
#define __pw_whole_vectors3(name, T, call)                                                      \
  __pw_inline vec<T, 2> name(vec<T, 2> x, vec<T, 2> y, vec<T, 2> z) {                           \
    return vec<T, 2>(__pw_raw(), call(x.__v, y.__v, z.__v));                                    \
  }                                                                                             \
  __pw_inline vec<T, 3> name(vec<T, 3> x, vec<T, 3> y, vec<T, 3> z) {                           \
    return vec<T, 3>(__pw_raw(), call(x.__v, y.__v, z.__v));                                    \
  }                                                                                             \
  __pw_inline vec<T, 4> name(vec<T, 4> x, vec<T, 4> y, vec<T, 4> z) {                           \
    return vec<T, 4>(__pw_raw(), call(x.__v, y.__v, z.__v));                                    \
  }

// Vector forms written in terms of other vector functions; `expression` uses x, y, z and the type V.
#define __pw_vectors_as1(name, T, expression)                                                   \
  __pw_inline vec<T, 2> name(vec<T, 2> x) { using V = vec<T, 2>; return expression; }           \
  __pw_inline vec<T, 3> name(vec<T, 3> x) { using V = vec<T, 3>; return expression; }           \
  __pw_inline vec<T, 4> name(vec<T, 4> x) { using V = vec<T, 4>; return expression; }
#define __pw_vectors_as2(name, T, expression)                                                   \
  __pw_inline vec<T, 2> name(vec<T, 2> x, vec<T, 2> y) { using V = vec<T, 2>; return expression; } \
  __pw_inline vec<T, 3> name(vec<T, 3> x, vec<T, 3> y) { using V = vec<T, 3>; return expression; } \
  __pw_inline vec<T, 4> name(vec<T, 4> x, vec<T, 4> y) { using V = vec<T, 4>; return expression; }
#define __pw_vectors_as3(name, T, expression)                                                   \
  __pw_inline vec<T, 2> name(vec<T, 2> x, vec<T, 2> y, vec<T, 2> z) { using V = vec<T, 2>; return expression; } \
  __pw_inline vec<T, 3> name(vec<T, 3> x, vec<T, 3> y, vec<T, 3> z) { using V = vec<T, 3>; return expression; } \
  __pw_inline vec<T, 4> name(vec<T, 4> x, vec<T, 4> y, vec<T, 4> z) { using V = vec<T, 4>; return expression; }

// A scalar form and vector forms of the same expression.
#define __pw_define1(name, T, expression)                                        \
  __pw_inline T name(T x) { using V = T; return expression; }                    \
  __pw_vectors_as1(name, T, expression)
#define __pw_define2(name, T, expression)                                        \
  __pw_inline T name(T x, T y) { using V = T; return expression; }               \
  __pw_vectors_as2(name, T, expression)
#define __pw_define3(name, T, expression)                                        \
  __pw_inline T name(T x, T y, T z) { using V = T; return expression; }          \
  __pw_vectors_as3(name, T, expression)

namespace metal {

// Arguments that a floating-point function takes as float: bfloat, alone or with other numbers, and integers.
template <typename... A>
constexpr bool __pw_promotes =
    (__pw_is_number<A> && ...) && ((__is_same(A, bfloat) || ...) || (__is_integral(A) && ...));
// The same without integers, for functions that have integer forms of their own.
template <typename... A>
constexpr bool __pw_promotes_bfloat = (__pw_is_number<A> && ...) && (__is_same(A, bfloat) || ...);

}  // namespace metal

#define __pw_promote1(name, condition)                                           \
  template <typename A, __pw_when<condition<A>> = 0>                             \
  __pw_inline float name(A x) { return name((float)x); }
#define __pw_promote2(name, condition)                                           \
  template <typename A, typename B, __pw_when<condition<A, B>> = 0>              \
  __pw_inline float name(A x, B y) { return name((float)x, (float)y); }
#define __pw_promote3(name, condition)                                           \
  template <typename A, typename B, typename C, __pw_when<condition<A, B, C>> = 0> \
  __pw_inline float name(A x, B y, C z) { return name((float)x, (float)y, (float)z); }
