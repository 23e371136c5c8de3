// The functions that simdgroups and quadgroups share. Included once for each, with __pw_group defined as `simd` or
// `quad`; has no include guard for that reason.

#define __pw_glue2(a, b, c) a##b##c
#define __pw_glue(a, b, c) __pw_glue2(a, b, c)
#define __pw_text2(x) #x
#define __pw_text(x) __pw_text2(x)
// A function's name in Metal, in this library, and as a symbol.
#define __pw_name(f) __pw_glue(__pw_group, _, f)
#define __pw_raw_name(f) __pw_glue(__pw_, __pw_group, _##f)
#define __pw_symbol(f, type) __asm__("air." __pw_text(__pw_group) "_" #f "." type)

extern "C" {
#define __pw_declare(f, suffix, T, type) __pw_convergent T __pw_glue(__pw_raw_name(f), _, suffix)(T) __pw_symbol(f, type);
#define __pw_declare_arithmetic(f)      \
  __pw_declare(f, i32, int, "s.i32")    \
  __pw_declare(f, u32, uint, "u.i32")   \
  __pw_declare(f, i64, long, "s.i64")   \
  __pw_declare(f, u64, ulong, "u.i64")  \
  __pw_declare(f, f32, float, "f32")
__pw_declare_arithmetic(sum)
__pw_declare_arithmetic(product)
__pw_declare_arithmetic(min)
__pw_declare_arithmetic(max)
__pw_declare_arithmetic(prefix_inclusive_sum)
__pw_declare_arithmetic(prefix_exclusive_sum)
__pw_declare_arithmetic(prefix_inclusive_product)
__pw_declare_arithmetic(prefix_exclusive_product)
#define __pw_declare_bits(f)           \
  __pw_declare(f, u32, uint, "u.i32")  \
  __pw_declare(f, u64, ulong, "u.i64")
__pw_declare_bits(and)
__pw_declare_bits(or)
__pw_declare_bits(xor)
__pw_declare_bits(broadcast_first)
#undef __pw_declare
#define __pw_declare_move(f)                                                                                 \
  __pw_convergent uint __pw_glue(__pw_raw_name(f), _, u32)(uint, ushort) __pw_symbol(f, "u.i32");            \
  __pw_convergent ulong __pw_glue(__pw_raw_name(f), _, u64)(ulong, ushort) __pw_symbol(f, "u.i64");
__pw_declare_move(shuffle)
__pw_declare_move(shuffle_up)
__pw_declare_move(shuffle_down)
__pw_declare_move(shuffle_xor)
__pw_declare_move(shuffle_rotate_up)
__pw_declare_move(shuffle_rotate_down)
__pw_declare_move(broadcast)
#undef __pw_declare_move
#define __pw_declare_fill(f)                                                                                          \
  __pw_convergent uint __pw_glue(__pw_raw_name(f), _, u32)(uint, uint, ushort, ushort) __pw_symbol(f, "u.i32");       \
  __pw_convergent ulong __pw_glue(__pw_raw_name(f), _, u64)(ulong, ulong, ushort, ushort) __pw_symbol(f, "u.i64");
__pw_declare_fill(shuffle_and_fill_up)
__pw_declare_fill(shuffle_and_fill_down)
#undef __pw_declare_fill
#undef __pw_declare_arithmetic
#undef __pw_declare_bits
}

namespace metal {

#ifndef __pw_group_types
#define __pw_group_types
template <typename T>
constexpr bool __pw_is_group_float = __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);
template <typename T>
constexpr bool __pw_is_group_integer = __is_integral(T) && !__is_same(T, bool);
template <bool B>
struct __pw_only_if {};
template <>
struct __pw_only_if<true> {
  using type = int;
};

// A value as the bits that are moved between threads, and back.
template <typename T>
__pw_inline auto __pw_to_bits(T x) {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(ulong, x);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(uint, x);
  } else if constexpr (sizeof(T) == 2) {
    return (uint)__builtin_bit_cast(ushort, x);
  } else {
    return (uint)__builtin_bit_cast(uchar, x);
  }
}
template <typename T, typename Bits>
__pw_inline T __pw_from_bits(Bits bits) {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, (ushort)bits);
  } else if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(T, (uchar)bits);
  } else {
    return __builtin_bit_cast(T, bits);
  }
}
template <typename T>
constexpr bool __pw_is_movable =
    __is_integral(T) || __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);
#endif

// Applies a function to each component of a vector.
#define __pw_by_component(f)                                       \
  template <typename T, int N>                                     \
  __pw_inline __pw_convergent vec<T, N> __pw_name(f)(vec<T, N> x) { \
    vec<T, N> result;                                              \
    for (int i = 0; i < N; ++i) {                                  \
      result[i] = __pw_name(f)(x[i]);                              \
    }                                                              \
    return result;                                                 \
  }

#define __pw_arithmetic(f)                                                                                    \
  template <typename T, typename __pw_only_if<__pw_is_group_integer<T> || __pw_is_group_float<T>>::type = 0>  \
  __pw_inline __pw_convergent T __pw_name(f)(T x) {                                                           \
    if constexpr (__pw_is_group_float<T>) {                                                                   \
      return (T)__pw_glue(__pw_raw_name(f), _, f32)((float)x);                                                \
    } else if constexpr (sizeof(T) == 8) {                                                                    \
      if constexpr (__is_signed(T)) {                                                                         \
        return (T)__pw_glue(__pw_raw_name(f), _, i64)((long)x);                                               \
      } else {                                                                                                \
        return (T)__pw_glue(__pw_raw_name(f), _, u64)((ulong)x);                                              \
      }                                                                                                       \
    } else if constexpr (__is_signed(T)) {                                                                    \
      return (T)__pw_glue(__pw_raw_name(f), _, i32)((int)x);                                                  \
    } else {                                                                                                  \
      return (T)__pw_glue(__pw_raw_name(f), _, u32)((uint)x);                                                 \
    }                                                                                                         \
  }                                                                                                           \
  __pw_by_component(f)
__pw_arithmetic(sum)
__pw_arithmetic(product)
__pw_arithmetic(min)
__pw_arithmetic(max)
__pw_arithmetic(prefix_inclusive_sum)
__pw_arithmetic(prefix_exclusive_sum)
__pw_arithmetic(prefix_inclusive_product)
__pw_arithmetic(prefix_exclusive_product)
#undef __pw_arithmetic

#define __pw_bitwise(f)                                                                      \
  template <typename T, typename __pw_only_if<__pw_is_group_integer<T>>::type = 0>           \
  __pw_inline __pw_convergent T __pw_name(f)(T x) {                                          \
    if constexpr (sizeof(T) == 8) {                                                          \
      return (T)__pw_glue(__pw_raw_name(f), _, u64)((ulong)x);                               \
    } else {                                                                                 \
      return (T)__pw_glue(__pw_raw_name(f), _, u32)((uint)x);                                \
    }                                                                                        \
  }                                                                                          \
  __pw_by_component(f)
__pw_bitwise(and)
__pw_bitwise(or)
__pw_bitwise(xor)
#undef __pw_bitwise

template <typename T, typename __pw_only_if<__pw_is_movable<T>>::type = 0>
__pw_inline __pw_convergent T __pw_name(broadcast_first)(T x) {
  if constexpr (sizeof(T) == 8) {
    return __pw_from_bits<T>(__pw_glue(__pw_raw_name(broadcast_first), _, u64)(__pw_to_bits(x)));
  } else {
    return __pw_from_bits<T>(__pw_glue(__pw_raw_name(broadcast_first), _, u32)(__pw_to_bits(x)));
  }
}
__pw_by_component(broadcast_first)
#undef __pw_by_component

#define __pw_move(f)                                                                                    \
  template <typename T, typename __pw_only_if<__pw_is_movable<T>>::type = 0>                            \
  __pw_inline __pw_convergent T __pw_name(f)(T x, ushort other) {                                       \
    if constexpr (sizeof(T) == 8) {                                                                     \
      return __pw_from_bits<T>(__pw_glue(__pw_raw_name(f), _, u64)(__pw_to_bits(x), other));            \
    } else {                                                                                            \
      return __pw_from_bits<T>(__pw_glue(__pw_raw_name(f), _, u32)(__pw_to_bits(x), other));            \
    }                                                                                                   \
  }                                                                                                     \
  template <typename T, int N>                                                                          \
  __pw_inline __pw_convergent vec<T, N> __pw_name(f)(vec<T, N> x, ushort other) {                       \
    vec<T, N> result;                                                                                   \
    for (int i = 0; i < N; ++i) {                                                                       \
      result[i] = __pw_name(f)(x[i], other);                                                            \
    }                                                                                                   \
    return result;                                                                                      \
  }
__pw_move(shuffle)
__pw_move(shuffle_up)
__pw_move(shuffle_down)
__pw_move(shuffle_xor)
__pw_move(shuffle_rotate_up)
__pw_move(shuffle_rotate_down)
__pw_move(broadcast)
#undef __pw_move

#define __pw_fill(f, width)                                                                                       \
  template <typename T, typename __pw_only_if<__pw_is_movable<T>>::type = 0>                                      \
  __pw_inline __pw_convergent T __pw_name(f)(T x, __pw_identity<T> filling, ushort delta, ushort modulo = width) { \
    if constexpr (sizeof(T) == 8) {                                                                               \
      return __pw_from_bits<T>(                                                                                   \
          __pw_glue(__pw_raw_name(f), _, u64)(__pw_to_bits(x), __pw_to_bits(filling), delta, modulo));            \
    } else {                                                                                                      \
      return __pw_from_bits<T>(                                                                                   \
          __pw_glue(__pw_raw_name(f), _, u32)(__pw_to_bits(x), __pw_to_bits(filling), delta, modulo));            \
    }                                                                                                             \
  }                                                                                                               \
  template <typename T, int N>                                                                                    \
  __pw_inline __pw_convergent vec<T, N> __pw_name(f)(vec<T, N> x, __pw_identity<vec<T, N>> filling, ushort delta, \
                                                     ushort modulo = width) {                                     \
    vec<T, N> result;                                                                                             \
    for (int i = 0; i < N; ++i) {                                                                                 \
      result[i] = __pw_name(f)(x[i], filling[i], delta, modulo);                                                  \
    }                                                                                                             \
    return result;                                                                                                \
  }
#define __pw_width_simd 32
#define __pw_width_quad 4
__pw_fill(shuffle_and_fill_up, __pw_glue(__pw_width_, __pw_group, ))
__pw_fill(shuffle_and_fill_down, __pw_glue(__pw_width_, __pw_group, ))
#undef __pw_width_simd
#undef __pw_width_quad
#undef __pw_fill

}  // namespace metal

#undef __pw_symbol
#undef __pw_raw_name
#undef __pw_name
#undef __pw_text
#undef __pw_text2
#undef __pw_glue
#undef __pw_glue2
