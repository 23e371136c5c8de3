// The scalar types, and the few templates that everything else needs.
#pragma once

#include <metal_config>

typedef _Float16 half;
typedef __bf16 bfloat;

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;

typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

namespace metal {

using ::bfloat;
using ::half;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
using ::ulong;
using ::ushort;

// T, but not deduced from an argument.
template <typename T>
struct __pw_identity_of {
  using type = T;
};
template <typename T>
using __pw_identity = typename __pw_identity_of<T>::type;

template <bool B, typename T = int>
struct __pw_when_of {};
template <typename T>
struct __pw_when_of<true, T> {
  using type = T;
};
// An int when the condition holds; takes part in overload resolution as a template argument.
template <bool B>
using __pw_when = typename __pw_when_of<B>::type;

template <typename T>
constexpr bool __pw_is_float = __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);

template <typename T>
constexpr bool __pw_is_number = __is_integral(T) || __pw_is_float<T>;

template <typename T, typename U>
constexpr bool __pw_is_half_and_bfloat =
    (__is_same(T, half) && __is_same(U, bfloat)) || (__is_same(T, bfloat) && __is_same(U, half));

}  // namespace metal
