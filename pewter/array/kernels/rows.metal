// Operations on whole rows: a simdgroup for a few of them. Elements are computed in float.

#include <metal_stdlib>
#include <pewter/stream.h>
using namespace metal;

struct Rows {
  uint length;
  uint parameter_flags;
  float epsilon;
  uint count;
  uint per_group;
};

constant constexpr uint kHasWeight = 1;
constant constexpr uint kHasBias = 2;

inline float row_sum(float value) {
  for (ushort distance = 16; distance > 0; distance /= 2) {
    value += simd_shuffle_xor(value, distance);
  }
  return value;
}

inline float row_max(float value) {
  for (ushort distance = 16; distance > 0; distance /= 2) {
    value = max(value, simd_shuffle_xor(value, distance));
  }
  return value;
}

// Calls `visit` with this lane's positions in a row. The loop takes 32 neighbours at a time under a condition that all
// lanes share; what is left of the row comes once more.
template <typename Visit>
inline void for_each_position(uint length, uint lane, Visit visit) {
  const uint whole = length / 32 * 32;
  for (uint i = 0; i < whole; i += 32) {
    visit(i + lane);
  }
  if (whole + lane < length) {
    visit(whole + lane);
  }
}

// One instruction, where max has to take care of either being NaN; a NaN that is `b` does not count.
inline float larger(float a, float b) {
  return b > a ? b : a;
}

// Calls `visit(row, next)` with the rows of a group. While it computes a row it reads the next, so that memory and
// arithmetic are busy together; the last row is its own next.
template <typename Visit>
inline void for_each_row(constant Rows& rows, uint group, Visit visit) {
  const uint end = min((group + 1) * rows.per_group, rows.count);
  for (uint row = group * rows.per_group; row < end; ++row) {
    visit(ulong(row) * rows.length, ulong(min(row + 1, end - 1)) * rows.length);
  }
}

// 2^t for t from -127 to 0, and anything for NaN: fast::exp2 without its limits, whose comparisons a softmax would wait
// for. t = n + r, and n is added to the exponent of the polynomial of r.
inline float exp2_below_zero(float t) {
  const float shifted = t + 0x1.8p23f;
  const float r = t - (shifted - 0x1.8p23f);
  float p = 0x1.5bb99cp-10f;
  p = fma(p, r, 0x1.3cea6ap-7f);
  p = fma(p, r, 0x1.c6b70ap-5f);
  p = fma(p, r, 0x1.ebf9bep-3f);
  p = fma(p, r, 0x1.62e42ap-1f);
  p = fma(p, r, 1.0f);
  return as_type<float>(as_type<uint>(p) + (as_type<uint>(shifted) << 23));
}

template <typename T>
kernel void softmax(const device T* in [[buffer(0)]],
                    device T* out [[buffer(1)]],
                    constant Rows& rows [[buffer(2)]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint group [[threadgroup_position_in_grid]]) {
  // Exponentials of floats wait in the output for their sum; halves would lose digits there.
  constexpr bool kKeeps = sizeof(T) == 4;
  const ulong first = ulong(group) * rows.per_group * rows.length;
  float high = -INFINITY;
  for_each_position(rows.length, lane, [&](uint i) { high = larger(high, float(in[first + i])); });
  for_each_row(rows, group, [&](ulong row, ulong next) {
    const float shared_high = row_max(high);
    // Rows of minus infinity become NaN by the division below, as 0 / 0.
    const float origin = isinf(shared_high) && shared_high < 0 ? 0.0f : shared_high;
    float sum = 0;
    // NaN when an element is.
    float powers = 0;
    const auto power = [&](uint i) {
      const float t = (float(in[row + i]) - origin) * M_LOG2E_F;
      return t < -127.0f ? -127.0f : t;
    };
    for_each_position(rows.length, lane, [&](uint i) {
      const float t = power(i);
      const float value = exp2_below_zero(t);
      powers += t;
      if (kKeeps) {
        out[row + i] = T(value);
      }
      sum += value;
    });
    const float scale = 1.0f / row_sum(isnan(powers) ? powers : sum);
    high = -INFINITY;
    // The next row is read before the store: a load behind a store to a place some whole pages away waits for it.
    for_each_position(rows.length, lane, [&](uint i) {
      high = larger(high, float(in[next + i]));
      out[row + i] = T((kKeeps ? float(out[row + i]) : exp2_below_zero(power(i))) * scale);
    });
  });
}

template <typename T>
kernel void rms_norm(const device T* in [[buffer(0)]],
                     const device T* weight [[buffer(1)]],
                     device T* out [[buffer(2)]],
                     constant Rows& rows [[buffer(3)]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint group [[threadgroup_position_in_grid]]) {
  const bool has_weight = (rows.parameter_flags & kHasWeight) != 0;
  const ulong first = ulong(group) * rows.per_group * rows.length;
  float squares = 0;
  for_each_position(rows.length, lane, [&](uint i) {
    const float a = in[first + i];
    squares += a * a;
  });
  for_each_row(rows, group, [&](ulong row, ulong next) {
    const float scale = rsqrt(row_sum(squares) / float(rows.length) + rows.epsilon);
    squares = 0;
    for_each_position(rows.length, lane, [&](uint i) {
      const float a = in[next + i];
      squares += a * a;
      const T value = T(float(in[row + i]) * scale);
      pewter::stream(out + row + i, has_weight ? T(float(value) * float(weight[i])) : value);
    });
  });
}

template <typename T>
kernel void layer_norm(const device T* in [[buffer(0)]],
                       const device T* weight [[buffer(1)]],
                       const device T* bias [[buffer(2)]],
                       device T* out [[buffer(3)]],
                       constant Rows& rows [[buffer(4)]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint group [[threadgroup_position_in_grid]]) {
  const bool has_weight = (rows.parameter_flags & kHasWeight) != 0;
  const bool has_bias = (rows.parameter_flags & kHasBias) != 0;
  const ulong first = ulong(group) * rows.per_group * rows.length;
  float sum = 0;
  for_each_position(rows.length, lane, [&](uint i) { sum += float(in[first + i]); });
  for_each_row(rows, group, [&](ulong row, ulong next) {
    const float mean = row_sum(sum) / float(rows.length);
    float squares = 0;
    for_each_position(rows.length, lane, [&](uint i) {
      const float distance = float(in[row + i]) - mean;
      squares += distance * distance;
    });
    const float scale = rsqrt(row_sum(squares) / float(rows.length) + rows.epsilon);
    sum = 0;
    for_each_position(rows.length, lane, [&](uint i) {
      sum += float(in[next + i]);
      float value = (float(in[row + i]) - mean) * scale;
      if (has_weight) {
        value *= float(weight[i]);
      }
      if (has_bias) {
        value += float(bias[i]);
      }
      pewter::stream(out + row + i, T(value));
    });
  });
}

#define INSTANTIATE(name, T)                                                                                    \
  template [[host_name("softmax_" #name)]] kernel void softmax<T>(const device T*, device T*, constant Rows&,   \
                                                                  uint, uint);                                  \
  template [[host_name("rms_norm_" #name)]] kernel void rms_norm<T>(const device T*, const device T*, device T*, \
                                                                    constant Rows&, uint, uint);                \
  template [[host_name("layer_norm_" #name)]] kernel void layer_norm<T>(                                        \
      const device T*, const device T*, const device T*, device T*, constant Rows&, uint, uint);
INSTANTIATE(float32, float)
INSTANTIATE(float16, half)
INSTANTIATE(bfloat16, bfloat)
