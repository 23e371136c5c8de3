#include <metal_stdlib>
using namespace metal;

struct Segments {
  uint outer;
  uint reduced;
  uint inner;
  uint is_max;
};

// NaN wins, and the first of equals.
template <typename T>
inline bool is_not_a_number(T a) { return a != a; }

template <typename T>
inline bool is_better(T a, uint a_index, T b, uint b_index, bool is_max) {
  const bool a_nan = is_not_a_number(a);
  const bool b_nan = is_not_a_number(b);
  if (a_nan || b_nan) {
    return a_nan && (!b_nan || a_index < b_index);
  }
  if (a == b) {
    return a_index < b_index;
  }
  return is_max ? a > b : a < b;
}

// A simdgroup for each row. T is the type in which elements are compared.
template <typename S, typename T>
kernel void arg_rows(const device S* in [[buffer(0)]],
                     device uint* out [[buffer(1)]],
                     constant Segments& p [[buffer(2)]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint row [[threadgroup_position_in_grid]]) {
  in += ulong(row) * p.reduced;
  const bool is_max = p.is_max != 0;
  uint best_index = min(lane, p.reduced - 1);
  T best = T(in[best_index]);
  for (uint i = lane + 32; i < p.reduced; i += 32) {
    const T value = T(in[i]);
    if (is_better(value, i, best, best_index, is_max)) {
      best = value;
      best_index = i;
    }
  }
  for (ushort distance = 16; distance > 0; distance /= 2) {
    const T other = simd_shuffle_xor(best, distance);
    const uint other_index = simd_shuffle_xor(best_index, distance);
    if (is_better(other, other_index, best, best_index, is_max)) {
      best = other;
      best_index = other_index;
    }
  }
  if (lane == 0) {
    out[row] = best_index;
  }
}

// A thread for each column, and for rows of elements that simdgroups cannot exchange.
template <typename S, typename T>
kernel void arg_columns(const device S* in [[buffer(0)]],
                        device uint* out [[buffer(1)]],
                        constant Segments& p [[buffer(2)]],
                        uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.inner) {
    return;
  }
  in += ulong(at.y) * p.reduced * p.inner + at.x;
  const bool is_max = p.is_max != 0;
  T best = T(in[0]);
  uint best_index = 0;
  for (uint i = 1; i < p.reduced; ++i) {
    const T value = T(in[ulong(i) * p.inner]);
    if (is_better(value, i, best, best_index, is_max)) {
      best = value;
      best_index = i;
    }
  }
  out[ulong(at.y) * p.inner + at.x] = best_index;
}

#define ROWS(name, S, T)                                                                                         \
  template [[host_name("arg_rows_" #name)]] kernel void arg_rows<S, T>(const device S*, device uint*,            \
                                                                       constant Segments&, uint, uint);
#define COLUMNS(name, S, T)                                                                                      \
  template [[host_name("arg_columns_" #name)]] kernel void arg_columns<S, T>(const device S*, device uint*,      \
                                                                             constant Segments&, uint2);
#define BOTH(name, S, T) ROWS(name, S, T) COLUMNS(name, S, T)
BOTH(bool, bool, uint)
BOTH(uint8, uchar, uint)
BOTH(uint16, ushort, uint)
BOTH(uint32, uint, uint)
COLUMNS(uint64, ulong, ulong)
BOTH(int8, char, int)
BOTH(int16, short, int)
BOTH(int32, int, int)
COLUMNS(int64, long, long)
BOTH(float16, half, float)
BOTH(bfloat16, bfloat, float)
BOTH(float32, float, float)
