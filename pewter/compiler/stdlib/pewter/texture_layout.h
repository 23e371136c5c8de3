// Textures as the host lays them out in memory: the structures of pewter/base/texture_abi.h.
#pragma once

#include <metal_types>

namespace metal {

enum __pw_channel_kind : uchar {
  __pw_unorm,
  __pw_snorm,
  __pw_uint,
  __pw_sint,
  __pw_float,
  __pw_small_float,
  __pw_srgb,
  __pw_shared_exponent,
  __pw_constant_channel,
};

struct __pw_texture_channel {
  uchar word;
  uchar up;
  uchar bits;
  __pw_channel_kind kind;
  float scale;
};

struct __pw_texture_level {
  __pw_device uchar* address;
  ulong row_bytes;
  ulong slice_bytes;
  uint width;
  uint height;
  uint depth;
  uint padding;
};

struct __pw_texture {
  __pw_texture_channel reads[4];
  __pw_texture_channel writes[4];
  uchar texel_bytes;
  uchar is_srgb;
  uchar is_shared_exponent;
  uchar has_alpha;
  uint level_count;
  uint array_length;
  uint sample_count;
  __pw_device const float* from_srgb;
  __pw_texture_level levels[15];
};
static_assert(sizeof(__pw_texture_channel) == 8 && sizeof(__pw_texture_level) == 40);
static_assert(sizeof(__pw_texture) == 88 + 15 * 40);

using __pw_texture_pointer = __pw_device const __pw_texture*;

}  // namespace metal
