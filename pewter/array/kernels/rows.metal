// Operations on whole rows: one simdgroup for each. Elements are computed in float.

#include <metal_stdlib>
using namespace metal;

struct Rows {
  uint length;
  uint parameter_flags;
  float epsilon;
  uint unused;
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

// Loops take 32 neighbours at a time under a condition that all lanes share; what is left of the row
// comes once more.
template <typename T>
kernel void softmax(const device T* in [[buffer(0)]],
                    device T* out [[buffer(1)]],
                    constant Rows& rows [[buffer(2)]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint row [[threadgroup_position_in_grid]]) {
  in += ulong(row) * rows.length;
  out += ulong(row) * rows.length;
  const uint whole = rows.length / 32 * 32;
  const uint last = whole + lane;
  float high = -INFINITY;
  for (uint i = 0; i < whole; i += 32) {
    high = max(high, float(in[i + lane]));
  }
  if (last < rows.length) {
    high = max(high, float(in[last]));
  }
  high = row_max(high);
  // Rows of minus infinity become NaN by the division below, as 0 / 0.
  high = isinf(high) && high < 0 ? 0.0f : high;

  // Exponentials of floats wait in the output for their sum; halves would lose digits there.
  constexpr bool kKeeps = sizeof(T) == 4;
  float sum = 0;
  for (uint i = 0; i < whole; i += 32) {
    const float power = exp(float(in[i + lane]) - high);
    if (kKeeps) {
      out[i + lane] = T(power);
    }
    sum += power;
  }
  if (last < rows.length) {
    const float power = exp(float(in[last]) - high);
    if (kKeeps) {
      out[last] = T(power);
    }
    sum += power;
  }
  const float scale = 1.0f / row_sum(sum);
  for (uint i = 0; i < whole; i += 32) {
    out[i + lane] = kKeeps ? T(float(out[i + lane]) * scale) : T(exp(float(in[i + lane]) - high) * scale);
  }
  if (last < rows.length) {
    out[last] = kKeeps ? T(float(out[last]) * scale) : T(exp(float(in[last]) - high) * scale);
  }
}

template <typename T>
kernel void rms_norm(const device T* in [[buffer(0)]],
                     const device T* weight [[buffer(1)]],
                     device T* out [[buffer(2)]],
                     constant Rows& rows [[buffer(3)]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint row [[threadgroup_position_in_grid]]) {
  in += ulong(row) * rows.length;
  out += ulong(row) * rows.length;
  const uint whole = rows.length / 32 * 32;
  const uint last = whole + lane;
  float sum = 0;
  for (uint i = 0; i < whole; i += 32) {
    const float a = in[i + lane];
    sum += a * a;
  }
  if (last < rows.length) {
    const float a = in[last];
    sum += a * a;
  }
  const float scale = rsqrt(row_sum(sum) / float(rows.length) + rows.epsilon);
  if (rows.parameter_flags & kHasWeight) {
    for (uint i = 0; i < whole; i += 32) {
      out[i + lane] = T(float(T(float(in[i + lane]) * scale)) * float(weight[i + lane]));
    }
    if (last < rows.length) {
      out[last] = T(float(T(float(in[last]) * scale)) * float(weight[last]));
    }
  } else {
    for (uint i = 0; i < whole; i += 32) {
      out[i + lane] = T(float(in[i + lane]) * scale);
    }
    if (last < rows.length) {
      out[last] = T(float(in[last]) * scale);
    }
  }
}

template <typename T>
kernel void layer_norm(const device T* in [[buffer(0)]],
                       const device T* weight [[buffer(1)]],
                       const device T* bias [[buffer(2)]],
                       device T* out [[buffer(3)]],
                       constant Rows& rows [[buffer(4)]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint row [[threadgroup_position_in_grid]]) {
  in += ulong(row) * rows.length;
  out += ulong(row) * rows.length;
  const uint whole = rows.length / 32 * 32;
  const uint last = whole + lane;
  float sum = 0;
  for (uint i = 0; i < whole; i += 32) {
    sum += float(in[i + lane]);
  }
  if (last < rows.length) {
    sum += float(in[last]);
  }
  const float mean = row_sum(sum) / float(rows.length);
  float squares = 0;
  for (uint i = 0; i < whole; i += 32) {
    const float distance = float(in[i + lane]) - mean;
    squares += distance * distance;
  }
  if (last < rows.length) {
    const float distance = float(in[last]) - mean;
    squares += distance * distance;
  }
  const float scale = rsqrt(row_sum(squares) / float(rows.length) + rows.epsilon);
  const bool has_weight = (rows.parameter_flags & kHasWeight) != 0;
  const bool has_bias = (rows.parameter_flags & kHasBias) != 0;
  for (uint i = 0; i < whole; i += 32) {
    float value = (float(in[i + lane]) - mean) * scale;
    if (has_weight) {
      value *= float(weight[i + lane]);
    }
    if (has_bias) {
      value += float(bias[i + lane]);
    }
    out[i + lane] = T(value);
  }
  if (last < rows.length) {
    float value = (float(in[last]) - mean) * scale;
    if (has_weight) {
      value *= float(weight[last]);
    }
    if (has_bias) {
      value += float(bias[last]);
    }
    out[last] = T(value);
  }
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
