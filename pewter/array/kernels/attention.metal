// Attention for few queries, and rotary positions. Elements are computed in float.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint kMaxKeys = 4096;

/// Strides, in elements, along batches, heads and positions; elements of a position are neighbours.
struct Attention {
  uint repeats;
  uint queries;
  uint keys;
  uint width;
  uint value_width;
  uint is_causal;
  float scale;
  long query_strides[3];
  long key_strides[3];
  long value_strides[3];
};

inline float lanes_sum(float value) {
  for (ushort distance = 16; distance > 0; distance /= 2) {
    value += simd_shuffle_xor(value, distance);
  }
  return value;
}

inline float lanes_max(float value) {
  for (ushort distance = 16; distance > 0; distance /= 2) {
    value = max(value, simd_shuffle_xor(value, distance));
  }
  return value;
}

// A simdgroup for each query of each head. Keys and values are read once, as they lie in memory.
template <typename T>
kernel void attend(const device T* queries [[buffer(0)]],
                   const device T* keys [[buffer(1)]],
                   const device T* values [[buffer(2)]],
                   device T* out [[buffer(3)]],
                   constant Attention& p [[buffer(4)]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint3 groups [[threadgroups_per_grid]]) {
  threadgroup float weights[kMaxKeys];
  const uint head = group.y / p.repeats;
  queries += group.z * p.query_strides[0] + group.y * p.query_strides[1] + group.x * p.query_strides[2];
  keys += group.z * p.key_strides[0] + head * p.key_strides[1];
  values += group.z * p.value_strides[0] + head * p.value_strides[1];
  out += ((ulong(group.z) * groups.y + group.y) * groups.x + group.x) * p.value_width;
  // The last query sees all keys. One that sees none takes all of them alike.
  const int seen = p.is_causal != 0 ? int(p.keys) - int(p.queries) + int(group.x) + 1 : int(p.keys);
  const uint count = seen > 0 ? uint(seen) : p.keys;

  const uint whole = p.width / 32 * 32;
  const uint last = whole + lane;
  for (uint j = 0; j < count; ++j) {
    const device T* key = keys + j * p.key_strides[2];
    float product = 0;
    for (uint i = 0; i < whole; i += 32) {
      product = fma(float(queries[i + lane]), float(key[i + lane]), product);
    }
    if (last < p.width) {
      product = fma(float(queries[last]), float(key[last]), product);
    }
    product = lanes_sum(product) * p.scale;
    if (lane == 0) {
      weights[j] = seen > 0 ? product : 0.0f;
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  float high = -INFINITY;
  for (uint j = lane; j < count; j += 32) {
    high = max(high, weights[j]);
  }
  high = lanes_max(high);
  high = isinf(high) ? 0.0f : high;
  float sum = 0;
  for (uint j = lane; j < count; j += 32) {
    const float weight = exp(weights[j] - high);
    weights[j] = weight;
    sum += weight;
  }
  const float scale = 1.0f / lanes_sum(sum);
  simdgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = lane; i < p.value_width; i += 32) {
    float total = 0;
    const device T* value = values + i;
    for (uint j = 0; j < count; ++j) {
      total = fma(weights[j], float(*value), total);
      value += p.value_strides[2];
    }
    out[i] = T(total * scale);
  }
}

struct Rope {
  uint width;
  uint half_dims;
  uint length;
  uint outer;
  uint outer_of_group;
  uint has_frequencies;
  float exponent;
  float scale;
  int offset;
};

// Pairs are neighbours, or half of the turned elements apart.
// A thread for each pair of each position turns it in several matrices by one angle; threads behind
// the pairs copy what is not turned.
template <typename T, bool kNeighbours>
kernel void rope(const device T* in [[buffer(0)]],
                 const device float* frequencies [[buffer(1)]],
                 device T* out [[buffer(2)]],
                 constant Rope& p [[buffer(3)]],
                 uint3 at [[thread_position_in_grid]]) {
  if (at.x >= p.width - p.half_dims) {
    return;
  }
  const uint first_outer = at.z * p.outer_of_group;
  const uint end = min(first_outer + p.outer_of_group, p.outer);
  const ulong matrix = ulong(p.length) * p.width;
  const ulong start = first_outer * matrix + ulong(at.y) * p.width;
  if (at.x >= p.half_dims) {
    ulong place = start + at.x + p.half_dims;
    for (uint o = first_outer; o < end; ++o) {
      out[place] = in[place];
      place += matrix;
    }
    return;
  }
  const float frequency =
      p.has_frequencies != 0 ? 1.0f / frequencies[at.x] : exp(float(at.x) * p.exponent);
  const float angle = float(int(at.y) + p.offset) * p.scale * frequency;
  const float cosine = cos(angle);
  const float sine = sin(angle);
  ulong first = start + (kNeighbours ? 2 * at.x : at.x);
  ulong second = first + (kNeighbours ? 1 : p.half_dims);
  for (uint o = first_outer; o < end; ++o) {
    const float a = float(in[first]);
    const float b = float(in[second]);
    out[first] = T(a * cosine - b * sine);
    out[second] = T(a * sine + b * cosine);
    first += matrix;
    second += matrix;
  }
}

#define INSTANTIATE(name, T)                                                                             \
  template [[host_name("attend_" #name)]] [[kernel]] decltype(attend<T>) attend<T>;                      \
  template [[host_name("rope_halves_" #name)]] [[kernel]] decltype(rope<T, false>) rope<T, false>;       \
  template [[host_name("rope_neighbours_" #name)]] [[kernel]] decltype(rope<T, true>) rope<T, true>;
INSTANTIATE(float32, float)
INSTANTIATE(float16, half)
INSTANTIATE(bfloat16, bfloat)
