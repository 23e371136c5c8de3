// What the front end rewrites expressions to when Clang rejects what Metal allows.
#pragma once

#include <pewter/scalar.h>

// T without const, volatile and address space.
template <typename T>
struct __pw_plain_of {
  using type = T;
};
template <typename T>
struct __pw_plain_of<__pw_device T> {
  using type = T;
};
template <typename T>
struct __pw_plain_of<__pw_threadgroup T> {
  using type = T;
};
template <typename T>
struct __pw_plain_of<__private T> {
  using type = T;
};
template <typename T>
using __pw_plain = typename __pw_plain_of<__remove_cv(__remove_reference_t(T))>::type;

// T(x), (T)x or static_cast<T>(x), where Clang has no conversion between half and bfloat.
template <typename T, typename U>
__pw_const T __pewter_cast(U&& x) {
  if constexpr (metal::__pw_is_half_and_bfloat<__pw_plain<T>, __pw_plain<U>>) {
    return (T)(float)x;
  } else {
    return (T)(static_cast<U&&>(x));
  }
}

// An operand of ?: as a value, for class objects that live in different address spaces.
template <typename T, metal::__pw_when<__is_class(__pw_plain<T>)> = 0>
__pw_const __pw_plain<T> __pewter_value(T&& x) {
  return x;
}
template <typename T, metal::__pw_when<!__is_class(__pw_plain<T>)> = 0>
__pw_const T&& __pewter_value(T&& x) {
  return static_cast<T&&>(x);
}
