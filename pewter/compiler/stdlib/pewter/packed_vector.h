// packed_vec<T, N>: vectors with the alignment of their elements, for memory. Arithmetic is that of vec<T, N>.
#pragma once

#include <pewter/vector.h>

namespace metal {

// Operators whose left operand is a scalar. Found only for arguments that are packed vectors.
struct __pw_packed_operators {
#define __pw_scalar_left(op)                                                   \
  template <typename T, int N>                                                 \
  friend __pw_const auto operator op(__pw_identity<T> a, packed_vec<T, N> b) { \
    return vec<T, N>(a) op b.__unpacked();                                     \
  }
  __pw_scalar_left(+) __pw_scalar_left(-) __pw_scalar_left(*) __pw_scalar_left(/) __pw_scalar_left(%)
  __pw_scalar_left(&) __pw_scalar_left(|) __pw_scalar_left(^) __pw_scalar_left(<<) __pw_scalar_left(>>)
  __pw_scalar_left(==) __pw_scalar_left(!=) __pw_scalar_left(<) __pw_scalar_left(>) __pw_scalar_left(<=)
  __pw_scalar_left(>=) __pw_scalar_left(&&) __pw_scalar_left(||)
#undef __pw_scalar_left
};

#define __pw_packed_operator(op)                                                               \
  __pw_const auto operator op(vec<T, N> b) const { return __unpacked() op b; }                 \
  __pw_const auto operator op(T b) const { return __unpacked() op b; }
#define __pw_packed_assignment(op)                                                             \
  __pw_packed_operator(op)                                                                     \
  __pw_const packed_vec& operator op##=(vec<T, N> b) { return *this = __unpacked() op b; }     \
  __pw_const packed_vec& operator op##=(T b) { return *this = __unpacked() op b; }

// What packed vectors of every length have.
#define __pw_packed_members                                                                    \
  T __e[N];                                                                                    \
                                                                                               \
  packed_vec() = default;                                                                      \
  __pw_const packed_vec(T s) : packed_vec(vec<T, N>(s)) {}                                     \
  template <typename U, __pw_when<!__is_same(U, T)> = 0>                                       \
  __pw_const explicit packed_vec(vec<U, N> v) : packed_vec(vec<T, N>(v)) {}                    \
  template <typename U, __pw_when<!__is_same(U, T)> = 0>                                       \
  __pw_const explicit packed_vec(packed_vec<U, N> v) : packed_vec(vec<T, N>(v.__unpacked())) {} \
  __pw_const packed_vec(initializer_list<T> list) : packed_vec(vec<T, N>(list)) {}             \
  template <typename A, typename B, typename... R>                                             \
  __pw_const packed_vec(A a, B b, R... rest) : packed_vec(vec<T, N>(a, b, rest...)) {}         \
                                                                                               \
  __pw_const operator vec<T, N>() const { return __unpacked(); }                               \
  __pw_const T& operator[](int i) { return __e[i]; }                                           \
  __pw_const T operator[](int i) const { return __e[i]; }                                      \
                                                                                               \
  __pw_const vec<T, N> operator+() const { return __unpacked(); }                              \
  __pw_const vec<T, N> operator-() const { return -__unpacked(); }                             \
  __pw_const vec<T, N> operator~() const { return ~__unpacked(); }                             \
  __pw_const vec<bool, N> operator!() const { return !__unpacked(); }                          \
  __pw_const packed_vec& operator++() { return *this = __unpacked() + T(1); }                  \
  __pw_const packed_vec& operator--() { return *this = __unpacked() - T(1); }                  \
  __pw_const packed_vec operator++(int) { packed_vec before = *this; ++*this; return before; } \
  __pw_const packed_vec operator--(int) { packed_vec before = *this; --*this; return before; } \
  __pw_packed_assignment(+) __pw_packed_assignment(-) __pw_packed_assignment(*)                \
  __pw_packed_assignment(/) __pw_packed_assignment(%) __pw_packed_assignment(&)                \
  __pw_packed_assignment(|) __pw_packed_assignment(^) __pw_packed_assignment(<<)               \
  __pw_packed_assignment(>>) __pw_packed_operator(==) __pw_packed_operator(!=)                 \
  __pw_packed_operator(<) __pw_packed_operator(>) __pw_packed_operator(<=)                     \
  __pw_packed_operator(>=) __pw_packed_operator(&&) __pw_packed_operator(||)

// Rows of swizzles.def.
#define __pw_part(name, colour, i)                         \
  __pw_const T __get_##name() const { return __e[i]; }     \
  __pw_const T __put_##name(T s) { return __e[i] = s; }    \
  __declspec(property(get = __get_##name, put = __put_##name)) T name, colour;
#define __pw_swizzle(name, colour, k, ...)                                            \
  __pw_const vec<T, k> __get_##name() const { return vec<T, k>(__VA_ARGS__); }        \
  __declspec(property(get = __get_##name)) vec<T, k> name, colour;
#define __pw_lvalue(name, colour, k, stores, ...)                                     \
  __pw_const vec<T, k> __get_##name() const { return vec<T, k>(__VA_ARGS__); }        \
  __pw_const vec<T, k> __put_##name(vec<T, k> s) { stores return s; }                 \
  __declspec(property(get = __get_##name, put = __put_##name)) vec<T, k> name, colour;
#define __pw_swizzle2(name, colour, i, j) __pw_swizzle(name, colour, 2, __e[i], __e[j])
#define __pw_swizzle3(name, colour, i, j, k) __pw_swizzle(name, colour, 3, __e[i], __e[j], __e[k])
#define __pw_swizzle4(name, colour, i, j, k, l) \
  __pw_swizzle(name, colour, 4, __e[i], __e[j], __e[k], __e[l])
#define __pw_store2(i, j) __e[i] = s.__get_x(); __e[j] = s.__get_y();
#define __pw_store3(i, j, k) __pw_store2(i, j) __e[k] = s.__get_z();
#define __pw_store4(i, j, k, l) __pw_store3(i, j, k) __e[l] = s.__get_w();
#define __pw_lvalue2(name, colour, i, j) \
  __pw_lvalue(name, colour, 2, __pw_store2(i, j), __e[i], __e[j])
#define __pw_lvalue3(name, colour, i, j, k) \
  __pw_lvalue(name, colour, 3, __pw_store3(i, j, k), __e[i], __e[j], __e[k])
#define __pw_lvalue4(name, colour, i, j, k, l) \
  __pw_lvalue(name, colour, 4, __pw_store4(i, j, k, l), __e[i], __e[j], __e[k], __e[l])

template <typename T>
struct packed_vec<T, 2> : __pw_packed_operators {
  static constexpr int N = 2;
  __pw_packed_members
  __pw_const packed_vec(vec<T, 2> v) : __e{v.__get_x(), v.__get_y()} {}
  __pw_const vec<T, 2> __unpacked() const { return vec<T, 2>(__e[0], __e[1]); }

#define __pw_components 2
#include <pewter/swizzles.def>
#undef __pw_components
};

template <typename T>
struct packed_vec<T, 3> : __pw_packed_operators {
  static constexpr int N = 3;
  __pw_packed_members
  __pw_const packed_vec(vec<T, 3> v) : __e{v.__get_x(), v.__get_y(), v.__get_z()} {}
  __pw_const vec<T, 3> __unpacked() const { return vec<T, 3>(__e[0], __e[1], __e[2]); }

#define __pw_components 3
#include <pewter/swizzles.def>
#undef __pw_components
};

template <typename T>
struct packed_vec<T, 4> : __pw_packed_operators {
  static constexpr int N = 4;
  __pw_packed_members
  __pw_const packed_vec(vec<T, 4> v) : __e{v.__get_x(), v.__get_y(), v.__get_z(), v.__get_w()} {}
  __pw_const vec<T, 4> __unpacked() const { return vec<T, 4>(__e[0], __e[1], __e[2], __e[3]); }

#define __pw_components 4
#include <pewter/swizzles.def>
#undef __pw_components
};

#include <pewter/undefine_swizzle_rows.h>

}  // namespace metal
