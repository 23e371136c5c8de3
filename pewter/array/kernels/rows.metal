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

template <typename T>
kernel void softmax(const device T* in [[buffer(0)]],
                    device T* out [[buffer(1)]],
                    constant Rows& rows [[buffer(2)]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint row [[threadgroup_position_in_grid]]) {
  in += ulong(row) * rows.length;
  out += ulong(row) * rows.length;
  const uint whole = rows.length / 128 * 128;
  float high0 = -INFINITY, high1 = -INFINITY, high2 = -INFINITY, high3 = -INFINITY;
  for (uint i = 0; i < whole; i += 128) {
    const float a = in[i + lane], b = in[i + 32 + lane], c = in[i + 64 + lane], d = in[i + 96 + lane];
    high0 = max(high0, a);
    high1 = max(high1, b);
    high2 = max(high2, c);
    high3 = max(high3, d);
  }
  for (uint i = whole + lane; i < rows.length; i += 32) {
    high0 = max(high0, float(in[i]));
  }
  float high = row_max(max(max(high0, high1), max(high2, high3)));
  // Rows of minus infinity become NaN by the division below, as 0 / 0.
  high = isinf(high) && high < 0 ? 0.0f : high;

  // Exponentials of floats wait in the output for their sum; halves would lose digits there.
  constexpr bool kKeeps = sizeof(T) == 4;
  float sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  for (uint i = 0; i < whole; i += 128) {
    const float a = exp(float(in[i + lane]) - high), b = exp(float(in[i + 32 + lane]) - high);
    const float c = exp(float(in[i + 64 + lane]) - high), d = exp(float(in[i + 96 + lane]) - high);
    if (kKeeps) {
      out[i + lane] = T(a);
      out[i + 32 + lane] = T(b);
      out[i + 64 + lane] = T(c);
      out[i + 96 + lane] = T(d);
    }
    sum0 += a;
    sum1 += b;
    sum2 += c;
    sum3 += d;
  }
  for (uint i = whole + lane; i < rows.length; i += 32) {
    const float a = exp(float(in[i]) - high);
    if (kKeeps) {
      out[i] = T(a);
    }
    sum0 += a;
  }
  const float scale = 1.0f / row_sum((sum0 + sum1) + (sum2 + sum3));
  for (uint i = 0; i < whole; i += 32) {
    out[i + lane] = kKeeps ? T(float(out[i + lane]) * scale) : T(exp(float(in[i + lane]) - high) * scale);
  }
  for (uint i = whole + lane; i < rows.length; i += 32) {
    out[i] = kKeeps ? T(float(out[i]) * scale) : T(exp(float(in[i]) - high) * scale);
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
  float sum0 = 0, sum1 = 0;
  uint i = lane;
  for (; i + 32 < rows.length; i += 64) {
    const float a = in[i], b = in[i + 32];
    sum0 += a * a;
    sum1 += b * b;
  }
  if (i < rows.length) {
    const float a = in[i];
    sum0 += a * a;
  }
  const float scale = rsqrt(row_sum(sum0 + sum1) / float(rows.length) + rows.epsilon);
  if (rows.parameter_flags & kHasWeight) {
    for (uint j = lane; j < rows.length; j += 32) {
      out[j] = T(float(T(float(in[j]) * scale)) * float(weight[j]));
    }
  } else {
    for (uint j = lane; j < rows.length; j += 32) {
      out[j] = T(float(in[j]) * scale);
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
  float sum = 0;
  for (uint i = lane; i < rows.length; i += 32) {
    sum += float(in[i]);
  }
  const float mean = row_sum(sum) / float(rows.length);
  float squares = 0;
  for (uint i = lane; i < rows.length; i += 32) {
    const float distance = float(in[i]) - mean;
    squares += distance * distance;
  }
  const float scale = rsqrt(row_sum(squares) / float(rows.length) + rows.epsilon);
  const bool has_weight = (rows.parameter_flags & kHasWeight) != 0;
  const bool has_bias = (rows.parameter_flags & kHasBias) != 0;
  for (uint i = lane; i < rows.length; i += 32) {
    float value = (float(in[i]) - mean) * scale;
    if (has_weight) {
      value *= float(weight[i]);
    }
    if (has_bias) {
      value += float(bias[i]);
    }
    out[i] = T(value);
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
