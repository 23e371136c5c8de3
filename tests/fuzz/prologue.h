#pragma once

namespace pewter::fuzz {

/// MSL that every kernel begins with: what the generator's expressions call.
inline constexpr const char* kPrologue = R"(#include <metal_stdlib>
using namespace metal;

// Which NaN an operation gives is not defined, so none may show.
inline float plain(float x) { return isnan(x) ? as_type<float>(0x7fc00000u) : x; }
inline uint bits(float x) { return as_type<uint>(plain(x)); }
template <typename T> T narrow(float x) { return T(clamp(x, T(-1) < T(0) ? -100.0f : 0.0f, 100.0f)); }
template <typename T> T quotient(T a, T b, T c) {
  if (b == T(0) || (T(-1) < T(0) && b == T(-1))) return c;
  return T(a / b);
}

// A hash of everything that a thread has seen.
inline uint fold(uint acc, uint x) { return (acc ^ x) * 0x9e3779b1u + (acc >> 15); }
inline uint fold(uint acc, bool x) { return fold(acc, x ? 77u : 5u); }
inline uint fold(uint acc, int x) { return fold(acc, uint(x)); }
inline uint fold(uint acc, short x) { return fold(acc, uint(int(x))); }
inline uint fold(uint acc, ushort x) { return fold(acc, uint(x)); }
inline uint fold(uint acc, char x) { return fold(acc, uint(int(x))); }
inline uint fold(uint acc, uchar x) { return fold(acc, uint(x)); }
inline uint fold(uint acc, ulong x) { return fold(fold(acc, uint(x)), uint(x >> 32)); }
inline uint fold(uint acc, long x) { return fold(acc, ulong(x)); }
inline uint fold(uint acc, float x) { return fold(acc, bits(x)); }
inline uint fold(uint acc, half x) { return fold(acc, bits(float(x))); }
inline uint fold(uint acc, bfloat x) { return fold(acc, bits(float(x))); }
template <typename T, int N> uint fold(uint acc, vec<T, N> x) {
  for (int i = 0; i < N; ++i) acc = fold(acc, T(x[i]));
  return acc;
}
// Rows whose elements may be added up in any order; all sums are exact.
template <uint N> float row_product(device const uint* a, device const uint* b) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (uint j = 0; j < N; ++j) sum += 0.5f * float(a[j] & 15u) * float(b[j] >> 28);
  return sum;
}
inline uint joined(uint a, uint b) { return a + 3u * b; }
inline int joined(int a, int b) { return int(uint(a) - uint(b)); }
inline float joined(float a, float b) { return a + b; }
inline ushort joined(ushort a, ushort b) { return ushort(a ^ (b + 1)); }
inline ulong joined(ulong a, ulong b) { return a * 5ul + b; }
inline half joined(half a, half b) { return a - b; }
inline uchar joined(uchar a, uchar b) { return uchar(a + b); }
)";

/// The part for kernels with cross-lane operations. A lane that reads from one that is not active
/// would get what Metal leaves open; these keep to its own value then.
inline constexpr const char* kGroupPrologue = R"(
inline uint simd_active_bits() { return uint((ulong)simd_active_threads_mask()); }
inline uint quad_active_bits() { return uint((ushort)quad_active_threads_mask()); }
inline ulong simd_ballot_bits(bool x) { return (ulong)simd_ballot(x); }
inline ulong quad_ballot_bits(bool x) { return ulong((ushort)quad_ballot(x)); }
#define SHUFFLES(group, width)                                                                  \
  template <typename T> T group##_shuffle_if_there(T x, uint from, uint) {                      \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle(x, ushort(from));                                             \
    return (active >> from & 1u) != 0u ? got : x;                                               \
  }                                                                                             \
  template <typename T> T group##_broadcast_if_there(T x, uint from, uint) {                    \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_broadcast(x, ushort(from));                                           \
    return (active >> from & 1u) != 0u ? got : x;                                               \
  }                                                                                             \
  template <typename T> T group##_shuffle_xor_if_there(T x, uint mask, uint lane) {             \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_xor(x, ushort(mask));                                         \
    return (active >> ((lane % width) ^ mask) & 1u) != 0u ? got : x;                            \
  }                                                                                             \
  template <typename T> T group##_shuffle_up_if_there(T x, uint delta, uint lane) {             \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_up(x, ushort(delta));                                         \
    const uint own = lane % width;                                                              \
    return own >= delta && (active >> (own - delta) & 1u) != 0u ? got : x;                      \
  }                                                                                             \
  template <typename T> T group##_shuffle_down_if_there(T x, uint delta, uint lane) {           \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_down(x, ushort(delta));                                       \
    const uint own = lane % width;                                                              \
    return own + delta < width && (active >> (own + delta) & 1u) != 0u ? got : x;               \
  }                                                                                             \
  template <typename T> T group##_rotate_up_if_there(T x, uint delta, uint lane) {              \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_rotate_up(x, ushort(delta));                                  \
    return (active >> ((lane - delta) % width) & 1u) != 0u ? got : x;                           \
  }                                                                                             \
  template <typename T> T group##_rotate_down_if_there(T x, uint delta, uint lane) {            \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_rotate_down(x, ushort(delta));                                \
    return (active >> ((lane + delta) % width) & 1u) != 0u ? got : x;                           \
  }                                                                                             \
  template <typename T> T group##_fill_up_if_there(T x, T filling, uint delta, uint lane) {     \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_and_fill_up(x, filling, ushort(delta));                       \
    return (active >> ((lane - delta) % width) & 1u) != 0u ? got : x;                           \
  }                                                                                             \
  template <typename T> T group##_fill_down_if_there(T x, T filling, uint delta, uint lane) {   \
    const uint active = group##_active_bits();                                                  \
    const T got = group##_shuffle_and_fill_down(x, filling, ushort(delta));                     \
    return (active >> ((lane + delta) % width) & 1u) != 0u ? got : x;                           \
  }
SHUFFLES(simd, 32u)
SHUFFLES(quad, 4u)
)";

}  // namespace pewter::fuzz
