#pragma once

#include <metal_stdlib>

/// Random numbers by position: Philox 4x32 with 10 rounds. The same position gives the same numbers
/// in every thread, group size and lane width.
namespace pewter {
namespace mps {

/// Four random words for a counter and a key.
inline uint4 philox(uint4 counter, uint2 key) {
  for (uint round = 0; round < 10; ++round) {
    const ulong product0 = ulong(0xD2511F53u) * counter.x;
    const ulong product1 = ulong(0xCD9E8D57u) * counter.z;
    counter = uint4(uint(product1 >> 32) ^ counter.y ^ key.x, uint(product1),
                    uint(product0 >> 32) ^ counter.w ^ key.y, uint(product0));
    key += uint2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

/// `counter` plus `blocks`, as one number of 128 bits whose first word is the lowest.
inline uint4 philox_advanced(uint4 counter, ulong blocks) {
  const ulong low = (ulong(counter.y) << 32) | counter.x;
  const ulong high = (ulong(counter.w) << 32) | counter.z;
  const ulong next_low = low + blocks;
  const ulong next_high = high + (next_low < low ? 1 : 0);
  return uint4(uint(next_low), uint(next_low >> 32), uint(next_high), uint(next_high >> 32));
}

/// From 0 up to but not 1, in steps of 2^-24.
inline float unit_float(uint word) {
  return float(word >> 8) * 0x1p-24f;
}

/// Two independent normal numbers with mean 0 and variance 1 from two words (Box and Muller).
inline float2 normal_pair(uint first, uint second) {
  // Above 0 up to 1, so that the logarithm is finite.
  const float radius =
      metal::precise::sqrt(-2.0f * metal::precise::log(float((first >> 8) + 1) * 0x1p-24f));
  const float angle = unit_float(second) * 2.0f;
  return float2(radius * metal::precise::cospi(angle), radius * metal::precise::sinpi(angle));
}

}  // namespace mps
}  // namespace pewter
