// Macros that declare the vector forms of a function, and the forms that convert their arguments.
//
// Scalar forms are plain overloads, one for each type, because Metal's are: arguments convert as they would for any
// overloaded function, and a call that mixes types is ambiguous exactly where it is in Metal. Vector forms are
// templates, so that a scalar call does not look at them: a packed vector or a scalar stands for a vector wherever
// another argument is one.
#pragma once

#include <metal_types>

namespace metal {

template <typename T>
constexpr bool __pw_is_math = __is_same(T, float) || __is_same(T, half);
template <typename T>
constexpr bool __pw_is_integer = __is_integral(T) && !__is_same(T, bool);

// The vector type of a call that mixes vectors, packed vectors and scalars; none for scalars alone.
template <typename...>
struct __pw_mixed_vector {};
template <typename A, typename... R>
struct __pw_mixed_vector<A, R...> : __pw_mixed_vector<R...> {};
template <typename T, int N, typename... R>
struct __pw_mixed_vector<vec<T, N>, R...> {
  using element = T;
  using type = vec<T, N>;
};
template <typename T, int N, typename... R>
struct __pw_mixed_vector<packed_vec<T, N>, R...> {
  using element = T;
  using type = vec<T, N>;
};
// The same for calls whose first argument is not a vector: the others are the vector forms themselves.
template <typename A, typename... R>
struct __pw_mixed_call : __pw_mixed_vector<A, R...> {};
template <typename T, int N, typename... R>
struct __pw_mixed_call<vec<T, N>, R...> {};

// Arguments that a floating-point function takes as float: bfloat, alone or with other numbers, and integers.
template <typename... A>
constexpr bool __pw_promotes =
    (__pw_is_number<A> && ...) && ((__is_same(A, bfloat) || ...) || (__is_integral(A) && ...));
// The same without integers, for functions that have integer forms of their own.
template <typename... A>
constexpr bool __pw_promotes_bfloat = (__pw_is_number<A> && ...) && (__is_same(A, bfloat) || ...);

}  // namespace metal

// Vector forms, in `body`: x, y and z of type vec<T, N>, where condition<T>. The result is vec<R, N>.
#define __pw_vector_form1(R, name, condition, ...)                                                        \
  template <typename T, int N, __pw_when<condition<T>> = 0>                                               \
  __pw_const vec<R, N> name(vec<T, N> x) {                                                               \
    __VA_ARGS__                                                                                           \
  }                                                                                                       \
  template <typename T, int N, __pw_when<condition<T>> = 0>                                               \
  __pw_const vec<R, N> name(packed_vec<T, N> x) {                                                        \
    return name(x.__unpacked());                                                                          \
  }
#define __pw_vector_form2(R, name, condition, ...)                                                        \
  template <typename T, int N, __pw_when<condition<T>> = 0>                                               \
  __pw_const vec<R, N> name(vec<T, N> x, __pw_identity<vec<T, N>> y) {                                   \
    __VA_ARGS__                                                                                           \
  }                                                                                                       \
  template <typename A, typename B, typename V = typename __pw_mixed_call<A, B>::type,                    \
            __pw_when<condition<typename __pw_mixed_call<A, B>::element>> = 0>                            \
  __pw_const auto name(A x, B y) {                                                                       \
    return name(V(x), V(y));                                                                              \
  }
#define __pw_vector_form3(R, name, condition, ...)                                                        \
  template <typename T, int N, __pw_when<condition<T>> = 0>                                               \
  __pw_const vec<R, N> name(vec<T, N> x, __pw_identity<vec<T, N>> y, __pw_identity<vec<T, N>> z) {       \
    __VA_ARGS__                                                                                           \
  }                                                                                                       \
  template <typename A, typename B, typename C, typename V = typename __pw_mixed_call<A, B, C>::type,     \
            __pw_when<condition<typename __pw_mixed_call<A, B, C>::element>> = 0>                         \
  __pw_const auto name(A x, B y, C z) {                                                                  \
    return name(V(x), V(y), V(z));                                                                        \
  }

// Each component computed by the scalar form.
#define __pw_at1(name, i) name((T)x.__v[i])
#define __pw_at2(name, i) name((T)x.__v[i], (T)y.__v[i])
#define __pw_at3(name, i) name((T)x.__v[i], (T)y.__v[i], (T)z.__v[i])
#define __pw_each_component(R, name, at)                                                                  \
  if constexpr (N == 2) return vec<R, N>(at(name, 0), at(name, 1));                                       \
  else if constexpr (N == 3) return vec<R, N>(at(name, 0), at(name, 1), at(name, 2));                     \
  else return vec<R, N>(at(name, 0), at(name, 1), at(name, 2), at(name, 3));
#define __pw_vectors1(R, name, condition) \
  __pw_vector_form1(R, name, condition, __pw_each_component(R, name, __pw_at1))
#define __pw_vectors2(R, name, condition) \
  __pw_vector_form2(R, name, condition, __pw_each_component(R, name, __pw_at2))
#define __pw_vectors3(R, name, condition) \
  __pw_vector_form3(R, name, condition, __pw_each_component(R, name, __pw_at3))

// All components computed together by a function of Clang vectors.
#define __pw_whole_vectors1(name, condition, call) \
  __pw_vector_form1(T, name, condition, return vec<T, N>(__pw_raw(), call(x.__v));)
#define __pw_whole_vectors2(name, condition, call) \
  __pw_vector_form2(T, name, condition, return vec<T, N>(__pw_raw(), call(x.__v, y.__v));)
#define __pw_whole_vectors3(name, condition, call) \
  __pw_vector_form3(T, name, condition, return vec<T, N>(__pw_raw(), call(x.__v, y.__v, z.__v));)

// Scalar forms for float and half, of the same expression as the vector forms.
#define __pw_math1(name, expression)                                     \
  __pw_inline float name(float x) { return expression; }                 \
  __pw_inline half name(half x) { return expression; }                   \
  __pw_vector_form1(T, name, __pw_is_math, return expression;)
#define __pw_math2(name, expression)                                     \
  __pw_inline float name(float x, float y) { return expression; }        \
  __pw_inline half name(half x, half y) { return expression; }           \
  __pw_vector_form2(T, name, __pw_is_math, return expression;)
#define __pw_math3(name, expression)                                     \
  __pw_inline float name(float x, float y, float z) { return expression; } \
  __pw_inline half name(half x, half y, half z) { return expression; }   \
  __pw_vector_form3(T, name, __pw_is_math, return expression;)

// Forms that take other numbers as float.
#define __pw_promote1(name, condition)                                           \
  template <typename A, __pw_when<condition<A>> = 0>                             \
  __pw_const float name(A x) { return name((float)x); }
#define __pw_promote2(name, condition)                                           \
  template <typename A, typename B, __pw_when<condition<A, B>> = 0>              \
  __pw_const float name(A x, B y) { return name((float)x, (float)y); }
#define __pw_promote3(name, condition)                                           \
  template <typename A, typename B, typename C, __pw_when<condition<A, B, C>> = 0> \
  __pw_const float name(A x, B y, C z) { return name((float)x, (float)y, (float)z); }
