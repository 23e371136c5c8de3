#include <metal_stdlib>

// Products with quantized matrices: groups of elements of a row share a scale and a bias, and 32 / kBits elements share
// a word, the first in its lowest bits.

/// Rows of x, columns of the product, elements that are multiplied and added, and elements of a group.
struct Extent {
  uint rows;
  uint columns;
  uint inner;
  uint group_size;
};

/// The elements themselves, a thread to a word.
template <typename T, uint kBits>
[[kernel]] void quantized_unpack(device const uint* w [[buffer(0)]],
                                 device const T* scales [[buffer(1)]],
                                 device const T* biases [[buffer(2)]],
                                 device T* out [[buffer(3)]],
                                 constant uint& group_size [[buffer(4)]],
                                 uint index [[thread_position_in_grid]]) {
  constexpr uint kPerWord = 32 / kBits;
  constexpr uint kMask = (1u << kBits) - 1;
  const uint packed = w[index];
  const uint group = index / (group_size / kPerWord);
  const float scale = float(scales[group]);
  const float bias = float(biases[group]);
  out += ulong(index) * kPerWord;
  for (uint i = 0; i < kPerWord; ++i) {
    out[i] = T(metal::fma(scale, float(packed >> (i * kBits) & kMask), bias));
  }
}

/// out = x @ transpose(w), a simdgroup to an element: lanes take 32 neighbours of a row of w at a time, those of one word
/// from its bits.
template <typename T, uint kBits>
[[kernel]] void quantized_rows(device const T* x [[buffer(0)]],
                               device const uint* w [[buffer(1)]],
                               device const T* scales [[buffer(2)]],
                               device const T* biases [[buffer(3)]],
                               device T* out [[buffer(4)]],
                               constant Extent& extent [[buffer(5)]],
                               uint lane [[thread_index_in_simdgroup]],
                               uint2 place [[threadgroup_position_in_grid]]) {
  constexpr uint kPerWord = 32 / kBits;
  constexpr uint kMask = (1u << kBits) - 1;
  const uint groups = extent.inner / extent.group_size;
  const uint word = lane / kPerWord;
  const uint shift = lane % kPerWord * kBits;
  x += ulong(place.y) * extent.inner;
  w += ulong(place.x) * (extent.inner / kPerWord);
  scales += ulong(place.x) * groups;
  biases += ulong(place.x) * groups;

  float sum = 0;
  for (uint group = 0; group < groups; ++group) {
    // scale * q + bias, summed, is scale * (sum of x * q) + bias * (sum of x).
    float product = 0;
    float plain = 0;
    for (uint i = 0; i < extent.group_size; i += 32) {
      const float factor = float(x[lane]);
      product = metal::fma(factor, float(w[word] >> shift & kMask), product);
      plain += factor;
      x += 32;
      w += kBits;
    }
    sum = metal::fma(float(scales[group]), product, metal::fma(float(biases[group]), plain, sum));
  }
  for (ushort distance = 16; distance > 0; distance /= 2) {
    sum += metal::simd_shuffle_xor(sum, distance);
  }
  if (lane == 0) {
    out[ulong(place.y) * extent.columns + place.x] = T(sum);
  }
}

/// out = x @ w.
template <typename T, uint kBits>
[[kernel]] void quantized_columns(device const T* x [[buffer(0)]],
                                  device const uint* w [[buffer(1)]],
                                  device const T* scales [[buffer(2)]],
                                  device const T* biases [[buffer(3)]],
                                  device T* out [[buffer(4)]],
                                  constant Extent& extent [[buffer(5)]],
                                  uint2 place [[thread_position_in_grid]]) {
  constexpr uint kPerWord = 32 / kBits;
  constexpr uint kMask = (1u << kBits) - 1;
  const uint groups = extent.columns / extent.group_size;
  const uint words = extent.columns / kPerWord;
  const uint shift = place.x % kPerWord * kBits;
  x += ulong(place.y) * extent.inner;
  w += place.x / kPerWord;
  scales += place.x / extent.group_size;
  biases += place.x / extent.group_size;

  float sum = 0;
  for (uint row = 0; row < extent.inner; ++row) {
    const float element = metal::fma(float(*scales), float(*w >> shift & kMask), float(*biases));
    sum = metal::fma(float(x[row]), element, sum);
    w += words;
    scales += groups;
    biases += groups;
  }
  out[ulong(place.y) * extent.columns + place.x] = T(sum);
}

#define INSTANTIATE(kernel_name, type, dtype, bits)                                             \
  template [[host_name(#kernel_name "_" #dtype "_" #bits)]] [[kernel]] decltype(                \
      kernel_name<type, bits>) kernel_name<type, bits>;

#define INSTANTIATE_TYPE(type, dtype)                \
  INSTANTIATE(quantized_unpack, type, dtype, 2)      \
  INSTANTIATE(quantized_unpack, type, dtype, 4)      \
  INSTANTIATE(quantized_unpack, type, dtype, 8)      \
  INSTANTIATE(quantized_rows, type, dtype, 2)        \
  INSTANTIATE(quantized_rows, type, dtype, 4)        \
  INSTANTIATE(quantized_rows, type, dtype, 8)        \
  INSTANTIATE(quantized_columns, type, dtype, 2)     \
  INSTANTIATE(quantized_columns, type, dtype, 4)     \
  INSTANTIATE(quantized_columns, type, dtype, 8)

INSTANTIATE_TYPE(float, float32)
INSTANTIATE_TYPE(half, float16)
INSTANTIATE_TYPE(bfloat, bfloat16)
