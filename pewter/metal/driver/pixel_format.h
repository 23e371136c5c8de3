#pragma once

#include <Metal/MTLPixelFormat.hpp>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pewter/base/texture_abi.h"

namespace pewter::driver {

/// How the bits of a texel are divided.
enum class TexelLayout : std::uint8_t {
  /// One to four channels of whole bytes, red first.
  Channels,
  /// The same with red and blue exchanged.
  ReversedChannels,
  /// One channel, which is alpha.
  Alpha,
  Rgb10a2,
  Bgr10a2,
  Rg11b10Float,
  Rgb9e5Float,
  B5g6r5,
  A1bgr5,
  Abgr4,
  Bgr5a1,
};

/// How a pixel format lies in memory.
struct PixelFormat {
  MTL::PixelFormat format = MTL::PixelFormatInvalid;
  const char* name = "";
  TexelLayout layout = TexelLayout::Channels;
  abi::ChannelKind kind = abi::ChannelKind::Unorm;
  std::uint8_t channels = 0;
  std::uint8_t channel_bytes = 0;
  std::uint8_t texel_bytes = 0;
  bool is_srgb = false;
};

/// Null for formats that textures cannot have here.
const PixelFormat* find_pixel_format(MTL::PixelFormat format);

/// Red, green, blue and alpha as numbers. Integers are exact up to 24 bits.
using Colour = std::array<float, 4>;

Colour decode(const PixelFormat& format, const std::byte* texel);
void encode(const PixelFormat& format, const Colour& colour, std::byte* texel);

/// Red, green, blue and alpha as kernels see them.
std::array<abi::TextureChannel, 4> channels_of(const PixelFormat& format);

/// The linear value of each byte of an sRGB channel.
const float* srgb_table();

}  // namespace pewter::driver
