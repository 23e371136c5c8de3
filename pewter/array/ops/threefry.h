#pragma once

#include <pewter/array.h>

#include <array>
#include <cstdint>

/// Arrays filled by Threefry from a key, which is a row contiguous array of two words, on the host
/// or the device.
namespace pewter::ops {

using KeyWords = std::array<std::uint32_t, 2>;

/// One block of the generator.
KeyWords threefry(const KeyWords& key, const KeyWords& counter);

/// uint8, uint16 or uint32.
array threefry_bits(const array& key, Shape shape, Dtype dtype, std::uint32_t stream);
/// Of a floating-point type.
array threefry_uniform(
    const array& key, Shape shape, Dtype dtype, float low, float range, std::uint32_t stream);
array threefry_normal(
    const array& key, Shape shape, Dtype dtype, float mean, float deviation, std::uint32_t stream);

}  // namespace pewter::ops
