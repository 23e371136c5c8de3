#include <metal_stdlib>

// Threefry 2x32 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3). Thread i makes words i and
// middle + i from one block, so what comes out depends neither on the number of threads nor on how they are grouped.

/// How many words there are, and where their second half begins: past the middle word when they are odd.
struct Extent {
  uint words;
  uint middle;
};

static uint2 threefry(uint2 key, uint2 counter) {
  const uint schedule[3] = {key.x, key.y, key.x ^ key.y ^ 0x1bd11bda};
  const uint rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  counter += key;
  for (uint group = 0; group < 5; ++group) {
    for (uint round = 0; round < 4; ++round) {
      counter.x += counter.y;
      counter.y = metal::rotate(counter.y, rotations[(group % 2) * 4 + round]) ^ counter.x;
    }
    counter.x += schedule[(group + 1) % 3];
    counter.y += schedule[(group + 2) % 3] + group + 1;
  }
  return counter;
}

/// The words that thread `index` makes. The middle one of an odd number has no partner: its block counts 0 instead.
static uint2 words_at(device const uint* key, constant Extent& extent, uint index) {
  const uint partner = extent.middle + index;
  return threefry(uint2(key[0], key[1]), uint2(index, partner < extent.words ? partner : 0));
}

/// Words as they are.
[[kernel]] void threefry_words(device const uint* key [[buffer(0)]],
                               device uint* out [[buffer(1)]],
                               constant Extent& extent [[buffer(2)]],
                               uint index [[thread_position_in_grid]]) {
  const uint2 words = words_at(key, extent, index);
  out[index] = words.x;
  if (extent.middle + index < extent.words) {
    out[extent.middle + index] = words.y;
  }
}

/// Words as they are, into memory whose last word may be cut short.
[[kernel]] void threefry_bytes(device const uint* key [[buffer(0)]],
                               device uchar* out [[buffer(1)]],
                               constant Extent& extent [[buffer(2)]],
                               constant ulong& bytes [[buffer(3)]],
                               uint index [[thread_position_in_grid]]) {
  const uint2 words = words_at(key, extent, index);
  const uint places[2] = {index, extent.middle + index};
  for (uint i = 0; i < 2; ++i) {
    if (places[i] >= extent.words) {
      continue;
    }
    const ulong first = ulong(places[i]) * 4;
    if (first + 4 <= bytes) {
      *reinterpret_cast<device uint*>(out + first) = words[i];
    } else {
      for (ulong byte = first; byte < bytes; ++byte) {
        out[byte] = uchar(words[i] >> (8 * (byte - first)));
      }
    }
  }
}

/// From 0 up to but not 1.
static float unit(uint word, float below_one) {
  return metal::min(float(word) * 0x1p-32f, below_one);
}

/// The inverse of the error function between -1 and 1 (Giles: Approximating the erfinv function).
static float inverse_error_function(float x) {
  const float w = -metal::log((1.0f - x) * (1.0f + x));
  if (w < 5.0f) {
    const float v = w - 2.5f;
    float p = 2.81022636e-08f;
    p = metal::fma(p, v, 3.43273939e-07f);
    p = metal::fma(p, v, -3.5233877e-06f);
    p = metal::fma(p, v, -4.39150654e-06f);
    p = metal::fma(p, v, 0.00021858087f);
    p = metal::fma(p, v, -0.00125372503f);
    p = metal::fma(p, v, -0.00417768164f);
    p = metal::fma(p, v, 0.246640727f);
    p = metal::fma(p, v, 1.50140941f);
    return p * x;
  }
  const float v = metal::sqrt(w) - 3.0f;
  float p = -0.000200214257f;
  p = metal::fma(p, v, 0.000100950558f);
  p = metal::fma(p, v, 0.00134934322f);
  p = metal::fma(p, v, -0.00367342844f);
  p = metal::fma(p, v, 0.00573950773f);
  p = metal::fma(p, v, -0.0076224613f);
  p = metal::fma(p, v, 0.00943887047f);
  p = metal::fma(p, v, 1.00167406f);
  p = metal::fma(p, v, 2.83297682f);
  return p * x;
}

/// low, range, and the greatest number of type T below 1.
struct Limits {
  float low;
  float range;
  float below_one;
};

template <typename T>
[[kernel]] void threefry_uniform(device const uint* key [[buffer(0)]],
                                 device T* out [[buffer(1)]],
                                 constant Extent& extent [[buffer(2)]],
                                 constant Limits& limits [[buffer(3)]],
                                 uint index [[thread_position_in_grid]]) {
  const uint2 words = words_at(key, extent, index);
  const T low = T(limits.low);
  const T range = T(limits.range);
  out[index] = range * T(unit(words.x, limits.below_one)) + low;
  if (extent.middle + index < extent.words) {
    out[extent.middle + index] = range * T(unit(words.y, limits.below_one)) + low;
  }
}

/// mean, and the deviation times the square root of 2.
struct Form {
  float mean;
  float scale;
};

static float normal(uint word, constant Form& form) {
  // From just above -1 up to but not 1: the ends would be infinite.
  const float u = metal::fma(unit(word, 0x1.fffffep-1f), 2.0f, -0x1.fffffep-1f);
  return metal::fma(inverse_error_function(u), form.scale, form.mean);
}

template <typename T>
[[kernel]] void threefry_normal(device const uint* key [[buffer(0)]],
                                device T* out [[buffer(1)]],
                                constant Extent& extent [[buffer(2)]],
                                constant Form& form [[buffer(3)]],
                                uint index [[thread_position_in_grid]]) {
  const uint2 words = words_at(key, extent, index);
  out[index] = T(normal(words.x, form));
  if (extent.middle + index < extent.words) {
    out[extent.middle + index] = T(normal(words.y, form));
  }
}

#define INSTANTIATE(kernel_name, type, dtype) \
  template [[host_name(#kernel_name "_" #dtype)]] [[kernel]] decltype(kernel_name<type>) kernel_name<type>;

#define INSTANTIATE_FLOATS(kernel_name)    \
  INSTANTIATE(kernel_name, float, float32) \
  INSTANTIATE(kernel_name, half, float16)  \
  INSTANTIATE(kernel_name, bfloat, bfloat16)

INSTANTIATE_FLOATS(threefry_uniform)
INSTANTIATE_FLOATS(threefry_normal)
