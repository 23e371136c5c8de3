// Texels to colours and back, channel by channel as the texture describes them.
//
// The description is the same for all threads, so the branches here never part them.
#pragma once

#include <metal_pack>
#include <pewter/texture_layout.h>

namespace metal {

// The words of a texel; what it does not have is 0.
__pw_inline uint4 __pw_load_words(__pw_texture_pointer t, __pw_device const uchar* p) {
  const uint bytes = t->texel_bytes;
  if (bytes == 4) {
    return uint4(*(__pw_device const uint*)p, 0, 0, 0);
  }
  if (bytes == 16) {
    __pw_device const uint* words = (__pw_device const uint*)p;
    return uint4(words[0], words[1], words[2], words[3]);
  }
  if (bytes == 8) {
    __pw_device const uint* words = (__pw_device const uint*)p;
    return uint4(words[0], words[1], 0, 0);
  }
  return uint4(bytes == 1 ? (uint)*p : (uint)*(__pw_device const ushort*)p, 0, 0, 0);
}

__pw_inline void __pw_store_words(__pw_texture_pointer t, __pw_device uchar* p, uint4 words) {
  const uint bytes = t->texel_bytes;
  if (bytes == 1) {
    *p = (uchar)words.x;
  } else if (bytes == 2) {
    *(__pw_device ushort*)p = (ushort)words.x;
  } else {
    __pw_device uint* to = (__pw_device uint*)p;
    to[0] = words.x;
    if (bytes > 4) {
      to[1] = words.y;
    }
    if (bytes > 8) {
      to[2] = words.z;
      to[3] = words.w;
    }
  }
}

__pw_inline uint __pw_word_of(uint4 words, uint number) {
  return number == 0 ? words.x : number == 1 ? words.y : number == 2 ? words.z : words.w;
}

// The bits of a channel at the bottom of a number, without and with their sign. A channel of 32 bits is not shifted.
__pw_inline uint __pw_channel_bits(__pw_device const __pw_texture_channel& channel, uint4 words) {
  return __pw_word_of(words, channel.word) << channel.up >> (32 - channel.bits & 31);
}
__pw_inline int __pw_signed_bits(__pw_device const __pw_texture_channel& channel, uint4 words) {
  return (int)(__pw_word_of(words, channel.word) << channel.up) >> (32 - channel.bits & 31);
}

// Bits that a small floating-point number lacks at the end of a half's mantissa.
__pw_inline uint __pw_missing_bits(uint bits) { return bits < 16 ? 15 - bits : 0; }

__pw_inline float __pw_channel_value(__pw_texture_pointer t, __pw_device const __pw_texture_channel& channel,
                                     uint4 words) {
  const __pw_channel_kind kind = channel.kind;
  const uint bits = __pw_channel_bits(channel, words);
  if (kind == __pw_unorm) {
    return (float)bits / channel.scale;
  }
  if (kind == __pw_float) {
    return as_type<float>(bits);
  }
  if (kind == __pw_small_float) {
    return (float)as_type<half>((ushort)(bits << __pw_missing_bits(channel.bits)));
  }
  if (kind == __pw_snorm) {
    return max((float)__pw_signed_bits(channel, words) / channel.scale, -1.0f);
  }
  if (kind == __pw_srgb) {
    return t->from_srgb[bits];
  }
  if (kind == __pw_shared_exponent) {
    return (float)bits * as_type<float>(((words.x >> 27) + 127 - 24) << 23);
  }
  return channel.scale;
}

__pw_inline float4 __pw_decode_float(__pw_texture_pointer t, __pw_device const uchar* p) {
  const uint4 words = __pw_load_words(t, p);
  return float4(__pw_channel_value(t, t->reads[0], words), __pw_channel_value(t, t->reads[1], words),
                __pw_channel_value(t, t->reads[2], words), __pw_channel_value(t, t->reads[3], words));
}

// A number's bits as a half or less: negative ones become 0 where there is no sign, excess bits are cut off.
__pw_inline uint __pw_to_small_float(float x, uint bits) {
  if (bits == 16) {
    return as_type<ushort>((half)x);
  }
  const uint missing = __pw_missing_bits(bits);
  const uint wide = as_type<ushort>((half)min(x, 65504.0f));
  return x != x ? 0x7c00u >> missing | 1u : (wide & 0x8000u) != 0 ? 0u : wide >> missing;
}

__pw_inline uint __pw_pack_rgb9e5(float4 c) {
  const float highest = 65408.0f;
  const float3 v = float3(clamp(c.x, 0.0f, highest), clamp(c.y, 0.0f, highest), clamp(c.z, 0.0f, highest));
  const float largest = max(v.x, max(v.y, v.z));
  int exponent = max((int)(as_type<uint>(largest) >> 23) - 127, -16) + 16;
  float scale = as_type<float>((uint)(24 - exponent + 127) << 23);
  if ((uint)rint(largest * scale) == 512) {
    exponent += 1;
    scale *= 0.5f;
  }
  return (uint)rint(v.x * scale) | (uint)rint(v.y * scale) << 9 | (uint)rint(v.z * scale) << 18 | (uint)exponent << 27;
}

__pw_inline uint __pw_channel_code(__pw_device const __pw_texture_channel& channel, float x) {
  const __pw_channel_kind kind = channel.kind;
  if (kind == __pw_float) {
    return as_type<uint>(x);
  }
  if (kind == __pw_small_float) {
    return __pw_to_small_float(x, channel.bits);
  }
  if (kind == __pw_snorm) {
    return __pw_to_snorm(x, channel.scale, (1u << channel.bits) - 1);
  }
  return kind == __pw_constant_channel ? 0u : __pw_to_unorm(x, channel.scale);
}

// Puts a channel's bits into the words of a texel.
__pw_inline uint4 __pw_with_channel(uint4 words, __pw_device const __pw_texture_channel& channel, uint code) {
  const uint word = channel.word;
  const uint bits = code << (32 - channel.bits - channel.up & 31);
  return words | uint4(word == 0 ? bits : 0, word == 1 ? bits : 0, word == 2 ? bits : 0, word == 3 ? bits : 0);
}

__pw_inline void __pw_encode_float(__pw_texture_pointer t, __pw_device uchar* p, float4 c) {
  if (t->is_srgb != 0) {
    // One after another: the function is long.
#pragma clang loop unroll(disable)
    for (uint i = 0; i < 3; ++i) {
      const float y = __pw_to_srgb(i == 0 ? c.x : i == 1 ? c.y : c.z);
      c = float4(i == 0 ? y : c.x, i == 1 ? y : c.y, i == 2 ? y : c.z, c.w);
    }
  }
  uint4 words = uint4(0);
  if (t->is_shared_exponent != 0) {
    words.x = __pw_pack_rgb9e5(c);
  } else {
    words = __pw_with_channel(words, t->writes[0], __pw_channel_code(t->writes[0], c.x));
    words = __pw_with_channel(words, t->writes[1], __pw_channel_code(t->writes[1], c.y));
    words = __pw_with_channel(words, t->writes[2], __pw_channel_code(t->writes[2], c.z));
    words = __pw_with_channel(words, t->writes[3], __pw_channel_code(t->writes[3], c.w));
  }
  __pw_store_words(t, p, words);
}

template <typename W>
__pw_const W __pw_integer_value(__pw_device const __pw_texture_channel& channel, uint4 words) {
  if (channel.kind == __pw_constant_channel) {
    return (W)channel.scale;
  }
  if constexpr (__is_same(W, int)) {
    return __pw_signed_bits(channel, words);
  } else {
    return __pw_channel_bits(channel, words);
  }
}

// Clamped to what the channel holds.
template <typename W>
__pw_const uint __pw_integer_code(__pw_device const __pw_texture_channel& channel, W x) {
  const uint bits = channel.bits;
  if (channel.kind == __pw_constant_channel) {
    return 0;
  }
  if constexpr (__is_same(W, int)) {
    const int highest = (int)(0x7fffffffu >> (32 - bits));
    return (uint)clamp(x, -highest - 1, highest) & 0xffffffffu >> (32 - bits);
  } else {
    return min(x, 0xffffffffu >> (32 - bits));
  }
}

template <typename W>
__pw_const vec<W, 4> __pw_decode_integer(__pw_texture_pointer t, __pw_device const uchar* p) {
  const uint4 words = __pw_load_words(t, p);
  return vec<W, 4>(__pw_integer_value<W>(t->reads[0], words), __pw_integer_value<W>(t->reads[1], words),
                   __pw_integer_value<W>(t->reads[2], words), __pw_integer_value<W>(t->reads[3], words));
}

template <typename W>
__pw_const void __pw_encode_integer(__pw_texture_pointer t, __pw_device uchar* p, vec<W, 4> c) {
  uint4 words = uint4(0);
  words = __pw_with_channel(words, t->writes[0], __pw_integer_code<W>(t->writes[0], c.x));
  words = __pw_with_channel(words, t->writes[1], __pw_integer_code<W>(t->writes[1], c.y));
  words = __pw_with_channel(words, t->writes[2], __pw_integer_code<W>(t->writes[2], c.z));
  words = __pw_with_channel(words, t->writes[3], __pw_integer_code<W>(t->writes[3], c.w));
  __pw_store_words(t, p, words);
}

// What a texture of element type T is read into: float, int or uint.
template <typename T>
struct __pw_texel_type {
  static_assert(__is_same(T, float) || __is_same(T, half) || __is_same(T, int) || __is_same(T, uint) ||
                    __is_same(T, short) || __is_same(T, ushort) || __is_same(T, ulong),
                "a texture is of float, half, int, uint, short, ushort or ulong");
  using type = float;
};
template <>
struct __pw_texel_type<int> {
  using type = int;
};
template <>
struct __pw_texel_type<short> {
  using type = int;
};
template <>
struct __pw_texel_type<uint> {
  using type = uint;
};
template <>
struct __pw_texel_type<ushort> {
  using type = uint;
};
template <>
struct __pw_texel_type<ulong> {
  using type = uint;
};
template <typename T>
using __pw_texel_of = typename __pw_texel_type<T>::type;

template <typename W>
__pw_const vec<W, 4> __pw_load_texel(__pw_texture_pointer t, __pw_device const uchar* p) {
  if constexpr (__is_same(W, float)) {
    return __pw_decode_float(t, p);
  } else {
    return __pw_decode_integer<W>(t, p);
  }
}

template <typename W>
__pw_const void __pw_store_texel(__pw_texture_pointer t, __pw_device uchar* p, vec<W, 4> c) {
  if constexpr (__is_same(W, float)) {
    __pw_encode_float(t, p, c);
  } else {
    __pw_encode_integer<W>(t, p, c);
  }
}

// Where a texel is; null outside of the level. Cubes count their faces as slices, array by array.
__pw_inline __pw_device uchar* __pw_texel_address(__pw_texture_pointer t, uint3 at, uint slice, uint slices, uint lod) {
  if (lod >= t->level_count || slice >= slices) {
    return nullptr;
  }
  const __pw_device __pw_texture_level& level = t->levels[lod];
  if (at.x >= level.width || at.y >= level.height || at.z >= level.depth) {
    return nullptr;
  }
  return level.address + (ulong)(slice + at.z) * level.slice_bytes + (ulong)at.y * level.row_bytes +
         (ulong)at.x * t->texel_bytes;
}

// Reading outside of a texture gives zeros, writing there does nothing.
template <typename W>
__pw_const vec<W, 4> __pw_read_texel(__pw_texture_pointer t, uint3 at, uint slice, uint slices, uint lod) {
  __pw_device const uchar* p = __pw_texel_address(t, at, slice, slices, lod);
  return p != nullptr ? __pw_load_texel<W>(t, p) : vec<W, 4>((W)0);
}
template <typename W>
__pw_const void __pw_write_texel(__pw_texture_pointer t, vec<W, 4> c, uint3 at, uint slice, uint slices, uint lod) {
  __pw_device uchar* p = __pw_texel_address(t, at, slice, slices, lod);
  if (p != nullptr) {
    __pw_store_texel<W>(t, p, c);
  }
}

}  // namespace metal
