#include <metal_stdlib>
#include <pewter/mps/random.h>

// Each thread makes one block of four words, at the position of the generator plus its own index, so
// what comes out depends neither on the number of threads nor on how they are grouped.

/// Where the generator stands.
struct Position {
  uint4 counter;
  uint2 key;
};

static uint4 words_at(constant Position& position, uint block) {
  return pewter::mps::philox(pewter::mps::philox_advanced(position.counter, block), position.key);
}

/// Stores the values of a block; those past the end are dropped.
template <typename T, typename V>
static void store(device T* out, ulong count, uint block, V values) {
  const ulong first = ulong(block) * 4;
  for (uint i = 0; i < 4; ++i) {
    if (first + i < count) {
      out[first + i] = T(values[i]);
    }
  }
}

[[kernel]] void random_bits(device uint* out [[buffer(0)]],
                            constant ulong& count [[buffer(1)]],
                            constant Position& position [[buffer(2)]],
                            uint block [[thread_position_in_grid]]) {
  store(out, count, block, words_at(position, block));
}

/// low, range, and the greatest value of T below the upper end: rounding must not reach the end.
template <typename T>
[[kernel]] void random_uniform(device T* out [[buffer(0)]],
                               constant ulong& count [[buffer(1)]],
                               constant Position& position [[buffer(2)]],
                               constant float3& limits [[buffer(3)]],
                               uint block [[thread_position_in_grid]]) {
  const uint4 words = words_at(position, block);
  float4 values;
  for (uint i = 0; i < 4; ++i) {
    const float value = metal::fma(pewter::mps::unit_float(words[i]), limits.y, limits.x);
    const float rounded = float(T(value));
    values[i] = rounded < limits.z ? rounded : limits.z;
  }
  store(out, count, block, values);
}

/// mean and deviation.
template <typename T>
[[kernel]] void random_normal(device T* out [[buffer(0)]],
                              constant ulong& count [[buffer(1)]],
                              constant Position& position [[buffer(2)]],
                              constant float2& form [[buffer(3)]],
                              uint block [[thread_position_in_grid]]) {
  const uint4 words = words_at(position, block);
  const float2 first = pewter::mps::normal_pair(words.x, words.y);
  const float2 second = pewter::mps::normal_pair(words.z, words.w);
  const float4 values = float4(first, second) * form.y + form.x;
  store(out, count, block, values);
}

/// True where a word is below the threshold, which may be 2^32.
[[kernel]] void random_bernoulli(device bool* out [[buffer(0)]],
                                 constant ulong& count [[buffer(1)]],
                                 constant Position& position [[buffer(2)]],
                                 constant ulong& threshold [[buffer(3)]],
                                 uint block [[thread_position_in_grid]]) {
  const uint4 words = words_at(position, block);
  const bool4 values = bool4(words.x < threshold, words.y < threshold, words.z < threshold, words.w < threshold);
  store(out, count, block, values);
}

/// The upper 64 bits of a product of 128.
static ulong high_product(ulong left, ulong right) {
  const ulong left_low = left & 0xffffffff;
  const ulong left_high = left >> 32;
  const ulong right_low = right & 0xffffffff;
  const ulong right_high = right >> 32;
  const ulong middle = left_high * right_low + ((left_low * right_low) >> 32);
  const ulong carry = (left_low * right_high + (middle & 0xffffffff)) >> 32;
  return left_high * right_high + (middle >> 32) + carry;
}

/// From low up to but not low + range.
///
/// Every number takes a block of its own: 128 random bits times the range leave no bias that could be
/// seen.
template <typename T>
[[kernel]] void random_integers(device T* out [[buffer(0)]],
                                constant ulong& range [[buffer(1)]],
                                constant Position& position [[buffer(2)]],
                                constant long& low [[buffer(3)]],
                                uint index [[thread_position_in_grid]]) {
  const uint4 words = words_at(position, index);
  const ulong first = (ulong(words.y) << 32) | words.x;
  const ulong second = (ulong(words.w) << 32) | words.z;
  const ulong middle = second * range;
  const ulong carry = middle + high_product(first, range) < middle ? 1 : 0;
  out[index] = T(ulong(low) + high_product(second, range) + carry);
}

#define INSTANTIATE(kernel_name, type, dtype) \
  template [[host_name(#kernel_name "_" #dtype)]] [[kernel]] decltype(kernel_name<type>) kernel_name<type>;

#define INSTANTIATE_FLOATS(kernel_name)      \
  INSTANTIATE(kernel_name, float, float32)   \
  INSTANTIATE(kernel_name, half, float16)    \
  INSTANTIATE(kernel_name, bfloat, bfloat16)

INSTANTIATE_FLOATS(random_uniform)
INSTANTIATE_FLOATS(random_normal)

INSTANTIATE(random_integers, uchar, uint8)
INSTANTIATE(random_integers, ushort, uint16)
INSTANTIATE(random_integers, uint, uint32)
INSTANTIATE(random_integers, ulong, uint64)
INSTANTIATE(random_integers, char, int8)
INSTANTIATE(random_integers, short, int16)
INSTANTIATE(random_integers, int, int32)
INSTANTIATE(random_integers, long, int64)
