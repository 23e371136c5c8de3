// vec<T, N>: the vector types. A class over one Clang vector, so that conversions between element types are explicit
// and element by element, and so that bool vectors have elements of one byte.
//
// Components and swizzles are properties: reading one calls a getter, writing one calls a setter that stores only the
// components it names. There is no member to take the address of, just as in Metal.
#pragma once

#include <metal_config>
#include <metal_initializer_list>
#include <pewter/scalar.h>

namespace metal {

template <typename T, int N>
struct vec;

template <typename T, int N>
struct packed_vec;

// What a vector of T stores for each element.
template <typename T>
struct __pw_storage {
  using type = T;
};
template <>
struct __pw_storage<bool> {
  using type = unsigned char;
};

template <typename T, int N>
using __pw_lanes = typename __pw_storage<T>::type __attribute__((__ext_vector_type__(N)));

// Elements as an array, because constant expressions can neither index a vector nor assign to an element.
template <typename T, int N>
struct __pw_elements {
  typename __pw_storage<T>::type element[N == 3 ? 4 : N];
};

template <typename T, int N>
__pw_const __pw_elements<T, N> __pw_to_elements(__pw_lanes<T, N> v) {
  if constexpr (N == 3) {
    return __builtin_bit_cast(__pw_elements<T, N>, __builtin_shufflevector(v, v, 0, 1, 2, 0));
  } else {
    return __builtin_bit_cast(__pw_elements<T, N>, v);
  }
}

template <typename T, int N>
__pw_const __pw_lanes<T, N> __pw_to_lanes(__pw_elements<T, N> e) {
  if constexpr (N == 2) {
    return {e.element[0], e.element[1]};
  } else if constexpr (N == 3) {
    return {e.element[0], e.element[1], e.element[2]};
  } else {
    return {e.element[0], e.element[1], e.element[2], e.element[3]};
  }
}

template <typename T, int N>
__pw_const __pw_lanes<T, N> __pw_from_list(initializer_list<T> list) {
  __pw_elements<T, N> elements = {};
  for (size_t i = 0; i < list.size() && i < N; ++i) {
    elements.element[i] = list.begin()[i];
  }
  return __pw_to_lanes<T, N>(elements);
}

// Marks the constructor that takes a Clang vector as it is.
struct __pw_raw {};

// Element-wise conversion.
template <typename T, typename U, int N>
__pw_const __pw_lanes<T, N> __pw_convert(__pw_lanes<U, N> v) {
  if constexpr (__is_same(T, U)) {
    return v;
  } else if constexpr (__is_same(T, bool)) {
    return __builtin_convertvector(v != (typename __pw_storage<U>::type)0, __pw_lanes<bool, N>) & (unsigned char)1;
  } else if constexpr (__pw_is_half_and_bfloat<T, U>) {
    return __builtin_convertvector(__builtin_convertvector(v, __pw_lanes<float, N>), __pw_lanes<T, N>);
  } else {
    return __builtin_convertvector(v, __pw_lanes<T, N>);
  }
}

// Operators whose left operand is a scalar. Found only for arguments that are vectors.
struct __pw_vector_operators {
#define __pw_scalar_left(op)                                                              \
  template <typename T, int N>                                                            \
  friend __pw_const auto operator op(__pw_identity<T> a, vec<T, N> b) {                   \
    return vec<T, N>(a) op b;                                                             \
  }
  __pw_scalar_left(+) __pw_scalar_left(-) __pw_scalar_left(*) __pw_scalar_left(/) __pw_scalar_left(%)
  __pw_scalar_left(&) __pw_scalar_left(|) __pw_scalar_left(^) __pw_scalar_left(<<) __pw_scalar_left(>>)
  __pw_scalar_left(==) __pw_scalar_left(!=) __pw_scalar_left(<) __pw_scalar_left(>) __pw_scalar_left(<=)
  __pw_scalar_left(>=) __pw_scalar_left(&&) __pw_scalar_left(||)
#undef __pw_scalar_left
};

// Operators that only vectors of integers have are disabled for the others, so that the error is at the program's own
// line. Arithmetic is checked in the body instead: candidates with conditions cost time in every program.
#define __pw_integers_only \
  __attribute__((enable_if(__is_integral(T) && !__is_same(T, bool), "this operator is for vectors of integers")))
#define __pw_bits_only \
  __attribute__((enable_if(__is_integral(T), "this operator is for vectors of integers or bool")))

#define __pw_check_number static_assert(!__is_same(T, bool), "a vector of bool has no arithmetic")
#define __pw_arithmetic_operator(op)                                                          \
  __pw_const vec operator op(vec b) const { __pw_check_number; return vec(__pw_raw(), __v op b.__v); } \
  __pw_const vec operator op(T b) const {                                                     \
    __pw_check_number;                                                                        \
    return vec(__pw_raw(), __v op (__lanes)(__s)b);                                           \
  }                                                                                           \
  __pw_const vec& operator op##=(vec b) { __pw_check_number; __v = __v op b.__v; return *this; } \
  __pw_const vec& operator op##=(T b) {                                                       \
    __pw_check_number;                                                                        \
    __v = __v op (__lanes)(__s)b;                                                             \
    return *this;                                                                             \
  }
#define __pw_bit_operator(op, only)                                                           \
  __pw_const vec operator op(vec b) const only { return vec(__pw_raw(), __v op b.__v); }      \
  __pw_const vec operator op(T b) const only { return vec(__pw_raw(), __v op (__lanes)(__s)b); } \
  __pw_const vec& operator op##=(vec b) only { __v = __v op b.__v; return *this; }            \
  __pw_const vec& operator op##=(T b) only { __v = __v op (__lanes)(__s)b; return *this; }

// Counts are taken modulo the width of an element ("Scalar and Vector Operators").
#define __pw_shift_operator(op)                                                               \
  __pw_const vec operator op(vec b) const __pw_integers_only {                                \
    return vec(__pw_raw(), __v op (b.__v & __width_mask));                                    \
  }                                                                                           \
  template <typename U>                                                                       \
  __pw_const vec operator op(vec<U, __n> b) const __pw_integers_only { return *this op vec(b); } \
  __pw_const vec operator op(T b) const __pw_integers_only {                                  \
    return vec(__pw_raw(), __v op (__lanes)(__s)(b & __width_mask));                          \
  }                                                                                           \
  template <typename U>                                                                       \
  __pw_const vec& operator op##=(vec<U, __n> b) __pw_integers_only { return *this = *this op b; } \
  __pw_const vec& operator op##=(T b) __pw_integers_only { return *this = *this op b; }

#define __pw_comparison_operator(op)                                                          \
  __pw_const vec<bool, __n> operator op(vec b) const { return __truth(__v op b.__v); }        \
  __pw_const vec<bool, __n> operator op(T b) const { return __truth(__v op (__lanes)(__s)b); }

#define __pw_logical_operator(op, bits)                                                       \
  __pw_const vec<bool, __n> operator op(vec b) const {                                        \
    return __truth((__v != (__s)0) bits (b.__v != (__s)0));                                   \
  }                                                                                           \
  __pw_const vec<bool, __n> operator op(T b) const { return *this op vec(b); }

// What vectors of every length have.
#define __pw_vector_members                                                                   \
  using __s = typename __pw_storage<T>::type;                                                 \
  using __lanes = __pw_lanes<T, __n>;                                                         \
  static constexpr __s __width_mask = (__s)(sizeof(T) * 8 - 1);                               \
                                                                                              \
  __lanes __v;                                                                                \
                                                                                              \
  vec() = default;                                                                            \
  __pw_const vec(__pw_raw, __lanes v) : __v(v) {}                                             \
  __pw_const vec(T s) : __v((__lanes)(__s)s) {}                                               \
  template <typename U>                                                                       \
  __pw_const explicit vec(vec<U, __n> o) : vec(__pw_raw(), __pw_convert<T, U, __n>(o.__v)) {} \
  template <typename U>                                                                       \
  __pw_const explicit vec(packed_vec<U, __n> o) : vec(o.__unpacked()) {}                      \
  /* A braced list may be shorter than the vector: the rest is zero. */                       \
  __pw_const vec(initializer_list<T> list) : vec(__pw_raw(), __pw_from_list<T, __n>(list)) {} \
                                                                                              \
  __pw_const T& operator[](int i) { return ((T*)&__v)[i]; }                                   \
  __pw_const T operator[](int i) const { return __element(i); }                               \
                                                                                              \
  __pw_const vec operator+() const { return *this; }                                          \
  __pw_const vec operator-() const { __pw_check_number; return vec(__pw_raw(), -__v); }       \
  __pw_const vec operator~() const __pw_integers_only { return vec(__pw_raw(), ~__v); }       \
  __pw_const vec<bool, __n> operator!() const { return __truth(__v == (__s)0); }              \
  __pw_const vec& operator++() { return *this += (T)1; }                                      \
  __pw_const vec& operator--() { return *this -= (T)1; }                                      \
  __pw_const vec operator++(int) { vec before = *this; ++*this; return before; }              \
  __pw_const vec operator--(int) { vec before = *this; --*this; return before; }              \
  __pw_arithmetic_operator(+) __pw_arithmetic_operator(-) __pw_arithmetic_operator(*)         \
  __pw_arithmetic_operator(/) __pw_bit_operator(%, __pw_integers_only)                        \
  __pw_bit_operator(&, __pw_bits_only) __pw_bit_operator(|, __pw_bits_only)                   \
  __pw_bit_operator(^, __pw_bits_only)                                                        \
  __pw_shift_operator(<<) __pw_shift_operator(>>)                                             \
  __pw_comparison_operator(==) __pw_comparison_operator(!=) __pw_comparison_operator(<)       \
  __pw_comparison_operator(>) __pw_comparison_operator(<=) __pw_comparison_operator(>=)       \
  __pw_logical_operator(&&, &) __pw_logical_operator(||, |)                                   \
                                                                                              \
  /* Constant expressions can neither index a vector nor assign to its elements. */           \
  __pw_const T __element(int i) const {                                                       \
    return __builtin_is_constant_evaluated() ? (T)__pw_to_elements<T, __n>(__v).element[i] : (T)__v[i]; \
  }                                                                                           \
  /* Only this element is written: another thread may be writing its neighbour. */            \
  __pw_const void __set_element(int i, T value) {                                             \
    if (__builtin_is_constant_evaluated()) {                                                  \
      __pw_elements<T, __n> e = __pw_to_elements<T, __n>(__v);                                \
      e.element[i] = value;                                                                   \
      __v = __pw_to_lanes<T, __n>(e);                                                         \
    } else {                                                                                  \
      ((__s*)&__v)[i] = value;                                                                \
    }                                                                                         \
  }                                                                                           \
  /* A comparison's result, all ones or zero in lanes as wide as the operands. */             \
  template <typename V>                                                                       \
  static __pw_const vec<bool, __n> __truth(V v) {                                             \
    return vec<bool, __n>(__pw_raw(), __builtin_convertvector(v, __pw_lanes<bool, __n>) & (unsigned char)1); \
  }

// Rows of swizzles.def.
#define __pw_part(name, colour, i)                                                            \
  __pw_const T __get_##name() const { return __element(i); }                                  \
  __pw_const T __put_##name(T s) { __set_element(i, s); return s; }                           \
  __declspec(property(get = __get_##name, put = __put_##name)) T name, colour;
#define __pw_getter(name, k, ...)                                                             \
  __pw_const vec<T, k> __get_##name() const {                                                 \
    return vec<T, k>(__pw_raw(), __builtin_shufflevector(__v, __v, __VA_ARGS__));             \
  }
#define __pw_swizzle(name, colour, k, ...)                                                    \
  __pw_getter(name, k, __VA_ARGS__)                                                           \
  __declspec(property(get = __get_##name)) vec<T, k> name, colour;
#define __pw_swizzle2(name, colour, i, j) __pw_swizzle(name, colour, 2, i, j)
#define __pw_swizzle3(name, colour, i, j, k) __pw_swizzle(name, colour, 3, i, j, k)
#define __pw_swizzle4(name, colour, i, j, k, l) __pw_swizzle(name, colour, 4, i, j, k, l)
#define __pw_set(i, from) __set_element(i, s.__get_##from());
#define __pw_lvalue(name, colour, n) \
  __declspec(property(get = __get_##name, put = __put_##name)) vec<T, n> name, colour;
#define __pw_lvalue2(name, colour, i, j)                                                      \
  __pw_getter(name, 2, i, j)                                                                  \
  __pw_const vec<T, 2> __put_##name(vec<T, 2> s) { __pw_set(i, x) __pw_set(j, y) return s; }  \
  __pw_lvalue(name, colour, 2)
#define __pw_lvalue3(name, colour, i, j, k)                                                   \
  __pw_getter(name, 3, i, j, k)                                                               \
  __pw_const vec<T, 3> __put_##name(vec<T, 3> s) {                                            \
    __pw_set(i, x) __pw_set(j, y) __pw_set(k, z) return s;                                    \
  }                                                                                           \
  __pw_lvalue(name, colour, 3)
#define __pw_lvalue4(name, colour, i, j, k, l)                                                \
  __pw_getter(name, 4, i, j, k, l)                                                            \
  __pw_const vec<T, 4> __put_##name(vec<T, 4> s) {                                            \
    __pw_set(i, x) __pw_set(j, y) __pw_set(k, z) __pw_set(l, w) return s;                     \
  }                                                                                           \
  __pw_lvalue(name, colour, 4)

template <typename T>
struct vec<T, 2> : __pw_vector_operators {
  static constexpr int __n = 2;
  __pw_vector_members;

  __pw_const vec(T x, T y) : __v{(__s)x, (__s)y} {}

#define __pw_components 2
#include <pewter/swizzles.def>
#undef __pw_components
};

template <typename T>
struct vec<T, 3> : __pw_vector_operators {
  static constexpr int __n = 3;
  __pw_vector_members;

  __pw_const vec(T x, T y, T z) : __v{(__s)x, (__s)y, (__s)z} {}
  __pw_const vec(vec<T, 2> xy, T z) : vec(xy.__get_x(), xy.__get_y(), z) {}
  __pw_const vec(T x, vec<T, 2> yz) : vec(x, yz.__get_x(), yz.__get_y()) {}

#define __pw_components 3
#include <pewter/swizzles.def>
#undef __pw_components
};

template <typename T>
struct vec<T, 4> : __pw_vector_operators {
  static constexpr int __n = 4;
  __pw_vector_members;

  __pw_const vec(T x, T y, T z, T w) : __v{(__s)x, (__s)y, (__s)z, (__s)w} {}
  __pw_const vec(vec<T, 2> xy, T z, T w) : vec(xy.__get_x(), xy.__get_y(), z, w) {}
  __pw_const vec(T x, vec<T, 2> yz, T w) : vec(x, yz.__get_x(), yz.__get_y(), w) {}
  __pw_const vec(T x, T y, vec<T, 2> zw) : vec(x, y, zw.__get_x(), zw.__get_y()) {}
  __pw_const vec(vec<T, 2> xy, vec<T, 2> zw) : __v(__builtin_shufflevector(xy.__v, zw.__v, 0, 1, 2, 3)) {}
  __pw_const vec(vec<T, 3> xyz, T w) : vec(xyz.__get_x(), xyz.__get_y(), xyz.__get_z(), w) {}
  __pw_const vec(T x, vec<T, 3> yzw) : vec(x, yzw.__get_x(), yzw.__get_y(), yzw.__get_z()) {}
  // A scalar would become a vector of two.
  vec(vec<T, 2> xy, T z) = delete;
  vec(T x, vec<T, 2> yz) = delete;

#define __pw_components 4
#include <pewter/swizzles.def>
#undef __pw_components
};

#include <pewter/undefine_swizzle_rows.h>
#undef __pw_getter
#undef __pw_set

}  // namespace metal
