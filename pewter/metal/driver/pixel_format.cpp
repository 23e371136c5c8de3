#include "pewter/metal/driver/pixel_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace pewter::driver {
namespace {

using abi::ChannelKind;

constexpr PixelFormat plain(MTL::PixelFormat format,
                            const char* name,
                            ChannelKind kind,
                            std::uint8_t channels,
                            std::uint8_t channel_bytes,
                            bool is_srgb = false) {
  return {format,
          name,
          TexelLayout::Channels,
          kind,
          channels,
          channel_bytes,
          static_cast<std::uint8_t>(channels * channel_bytes),
          is_srgb};
}

constexpr PixelFormat packed(MTL::PixelFormat format,
                             const char* name,
                             TexelLayout layout,
                             ChannelKind kind,
                             std::uint8_t channels,
                             std::uint8_t texel_bytes) {
  return {format, name, layout, kind, channels, 0, texel_bytes, false};
}

#define PEWTER_PLAIN(name, kind, channels, bytes) \
  plain(MTL::PixelFormat##name, #name, ChannelKind::kind, channels, bytes)
#define PEWTER_SRGB(name, channels) \
  plain(MTL::PixelFormat##name, #name, ChannelKind::Unorm, channels, 1, true)
#define PEWTER_PACKED(name, layout, kind, channels, bytes) \
  packed(MTL::PixelFormat##name, #name, TexelLayout::layout, ChannelKind::kind, channels, bytes)

constexpr PixelFormat kFormats[] = {
    {MTL::PixelFormatA8Unorm, "A8Unorm", TexelLayout::Alpha, ChannelKind::Unorm, 1, 1, 1, false},
    PEWTER_PLAIN(R8Unorm, Unorm, 1, 1),
    PEWTER_SRGB(R8Unorm_sRGB, 1),
    PEWTER_PLAIN(R8Snorm, Snorm, 1, 1),
    PEWTER_PLAIN(R8Uint, Uint, 1, 1),
    PEWTER_PLAIN(R8Sint, Sint, 1, 1),
    PEWTER_PLAIN(R16Unorm, Unorm, 1, 2),
    PEWTER_PLAIN(R16Snorm, Snorm, 1, 2),
    PEWTER_PLAIN(R16Uint, Uint, 1, 2),
    PEWTER_PLAIN(R16Sint, Sint, 1, 2),
    PEWTER_PLAIN(R16Float, Float, 1, 2),
    PEWTER_PLAIN(RG8Unorm, Unorm, 2, 1),
    PEWTER_SRGB(RG8Unorm_sRGB, 2),
    PEWTER_PLAIN(RG8Snorm, Snorm, 2, 1),
    PEWTER_PLAIN(RG8Uint, Uint, 2, 1),
    PEWTER_PLAIN(RG8Sint, Sint, 2, 1),
    PEWTER_PACKED(B5G6R5Unorm, B5g6r5, Unorm, 3, 2),
    PEWTER_PACKED(A1BGR5Unorm, A1bgr5, Unorm, 4, 2),
    PEWTER_PACKED(ABGR4Unorm, Abgr4, Unorm, 4, 2),
    PEWTER_PACKED(BGR5A1Unorm, Bgr5a1, Unorm, 4, 2),
    PEWTER_PLAIN(R32Uint, Uint, 1, 4),
    PEWTER_PLAIN(R32Sint, Sint, 1, 4),
    PEWTER_PLAIN(R32Float, Float, 1, 4),
    PEWTER_PLAIN(RG16Unorm, Unorm, 2, 2),
    PEWTER_PLAIN(RG16Snorm, Snorm, 2, 2),
    PEWTER_PLAIN(RG16Uint, Uint, 2, 2),
    PEWTER_PLAIN(RG16Sint, Sint, 2, 2),
    PEWTER_PLAIN(RG16Float, Float, 2, 2),
    PEWTER_PLAIN(RGBA8Unorm, Unorm, 4, 1),
    PEWTER_SRGB(RGBA8Unorm_sRGB, 4),
    PEWTER_PLAIN(RGBA8Snorm, Snorm, 4, 1),
    PEWTER_PLAIN(RGBA8Uint, Uint, 4, 1),
    PEWTER_PLAIN(RGBA8Sint, Sint, 4, 1),
    {MTL::PixelFormatBGRA8Unorm, "BGRA8Unorm", TexelLayout::ReversedChannels, ChannelKind::Unorm, 4,
     1, 4, false},
    {MTL::PixelFormatBGRA8Unorm_sRGB, "BGRA8Unorm_sRGB", TexelLayout::ReversedChannels,
     ChannelKind::Unorm, 4, 1, 4, true},
    PEWTER_PACKED(RGB10A2Unorm, Rgb10a2, Unorm, 4, 4),
    PEWTER_PACKED(RGB10A2Uint, Rgb10a2, Uint, 4, 4),
    PEWTER_PACKED(RG11B10Float, Rg11b10Float, Float, 3, 4),
    PEWTER_PACKED(RGB9E5Float, Rgb9e5Float, Float, 3, 4),
    PEWTER_PACKED(BGR10A2Unorm, Bgr10a2, Unorm, 4, 4),
    PEWTER_PLAIN(RG32Uint, Uint, 2, 4),
    PEWTER_PLAIN(RG32Sint, Sint, 2, 4),
    PEWTER_PLAIN(RG32Float, Float, 2, 4),
    PEWTER_PLAIN(RGBA16Unorm, Unorm, 4, 2),
    PEWTER_PLAIN(RGBA16Snorm, Snorm, 4, 2),
    PEWTER_PLAIN(RGBA16Uint, Uint, 4, 2),
    PEWTER_PLAIN(RGBA16Sint, Sint, 4, 2),
    PEWTER_PLAIN(RGBA16Float, Float, 4, 2),
    PEWTER_PLAIN(RGBA32Uint, Uint, 4, 4),
    PEWTER_PLAIN(RGBA32Sint, Sint, 4, 4),
    PEWTER_PLAIN(RGBA32Float, Float, 4, 4),
    PEWTER_PLAIN(Depth16Unorm, Unorm, 1, 2),
    PEWTER_PLAIN(Depth32Float, Float, 1, 4),
};

#undef PEWTER_PLAIN
#undef PEWTER_SRGB
#undef PEWTER_PACKED

/// A run of bits of a packed texel: where it begins and how many.
struct Bits {
  unsigned shift;
  unsigned count;
};

using PackedChannels = std::array<Bits, 4>;

/// Where red, green, blue and alpha are in formats of unsigned numbers.
PackedChannels bits_of(TexelLayout layout) {
  switch (layout) {
    case TexelLayout::Bgr10a2:
      return {{{20, 10}, {10, 10}, {0, 10}, {30, 2}}};
    case TexelLayout::B5g6r5:
      return {{{11, 5}, {5, 6}, {0, 5}, {0, 0}}};
    case TexelLayout::A1bgr5:
      return {{{11, 5}, {6, 5}, {1, 5}, {0, 1}}};
    case TexelLayout::Abgr4:
      return {{{12, 4}, {8, 4}, {4, 4}, {0, 4}}};
    case TexelLayout::Rg11b10Float:
      return {{{0, 11}, {11, 11}, {22, 10}, {0, 0}}};
    case TexelLayout::Rgb9e5Float:
      return {{{0, 9}, {9, 9}, {18, 9}, {0, 0}}};
    case TexelLayout::Bgr5a1:
      return {{{10, 5}, {5, 5}, {0, 5}, {15, 1}}};
    default:
      return {{{0, 10}, {10, 10}, {20, 10}, {30, 2}}};
  }
}

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = mantissa != 0 ? std::nanf("") : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    value = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint16_t float_to_half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float size = std::fabs(value);
  if (std::isnan(value)) {
    return sign | 0x7e00;
  }
  if (size >= 65520.0F) {
    return sign | 0x7c00;
  }
  if (size == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(size, &exponent);
  // Eleven bits of precision, or what is left of them below the normal numbers.
  const int shift = std::max(exponent - 11, -24);
  const auto digits = static_cast<int>(std::nearbyint(std::ldexp(size, -shift)));
  return static_cast<std::uint16_t>(sign + (shift + 24) * 1024 + digits);
}

float clamp_unit(float value, float lowest) {
  return std::isnan(value) ? 0.0F : std::clamp(value, lowest, 1.0F);
}

float from_srgb(float value) {
  return value <= 0.04045F ? value / 12.92F : std::pow((value + 0.055F) / 1.055F, 2.4F);
}

float to_srgb(float value) {
  const float clamped = clamp_unit(value, 0.0F);
  return clamped < 0.0031308F ? 12.92F * clamped : 1.055F * std::pow(clamped, 1.0F / 2.4F) - 0.055F;
}

template <typename T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float read_channel(ChannelKind kind, unsigned bytes, const std::byte* at) {
  switch (kind) {
    case ChannelKind::Unorm:
      return bytes == 1 ? static_cast<float>(read<std::uint8_t>(at)) / 255.0F
                        : static_cast<float>(read<std::uint16_t>(at)) / 65535.0F;
    case ChannelKind::Snorm:
      return std::max(bytes == 1 ? static_cast<float>(read<std::int8_t>(at)) / 127.0F
                                 : static_cast<float>(read<std::int16_t>(at)) / 32767.0F,
                      -1.0F);
    case ChannelKind::Uint:
      return bytes == 1   ? static_cast<float>(read<std::uint8_t>(at))
             : bytes == 2 ? static_cast<float>(read<std::uint16_t>(at))
                          : static_cast<float>(read<std::uint32_t>(at));
    case ChannelKind::Sint:
      return bytes == 1   ? static_cast<float>(read<std::int8_t>(at))
             : bytes == 2 ? static_cast<float>(read<std::int16_t>(at))
                          : static_cast<float>(read<std::int32_t>(at));
    default:
      break;
  }
  return bytes == 2 ? half_to_float(read<std::uint16_t>(at)) : read<float>(at);
}

void write_channel(ChannelKind kind, unsigned bytes, float value, std::byte* at) {
  std::uint64_t bits = 0;
  const double limit = std::ldexp(1.0, static_cast<int>(8 * bytes)) - 1;
  // Kernels compute in single precision.
  const auto scale = static_cast<float>(limit);
  switch (kind) {
    case ChannelKind::Unorm:
      bits = static_cast<std::uint64_t>(std::nearbyint(clamp_unit(value, 0.0F) * scale));
      break;
    case ChannelKind::Snorm:
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(
          std::nearbyint(clamp_unit(value, -1.0F) * std::floor(scale / 2))));
      break;
    case ChannelKind::Uint:
      bits = static_cast<std::uint64_t>(std::clamp(static_cast<double>(value), 0.0, limit));
      break;
    case ChannelKind::Sint:
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::clamp(
          static_cast<double>(value), -std::floor(limit / 2) - 1, std::floor(limit / 2))));
      break;
    default:
      bits = bytes == 2 ? float_to_half(value) : std::bit_cast<std::uint32_t>(value);
      break;
  }
  std::memcpy(at, &bits, bytes);
}

// An 11 or 10 bit floating-point number: a half without its sign and its last bits.
float read_small_float(std::uint32_t bits, unsigned mantissa_bits) {
  return half_to_float(static_cast<std::uint16_t>(bits << (10 - mantissa_bits)));
}

std::uint32_t write_small_float(float value, unsigned mantissa_bits) {
  if (std::isnan(value)) {
    return 31U << mantissa_bits | 1U;
  }
  return value <= 0 ? 0U
                    : static_cast<std::uint32_t>(float_to_half(std::min(value, 65504.0F))) >>
                          (10 - mantissa_bits);
}

Colour decode_packed(const PixelFormat& format, const std::byte* texel) {
  std::uint32_t word = 0;
  std::memcpy(&word, texel, format.texel_bytes);
  Colour colour = {0, 0, 0, 1};
  if (format.layout == TexelLayout::Rg11b10Float) {
    return {read_small_float(word & 2047, 6), read_small_float(word >> 11 & 2047, 6),
            read_small_float(word >> 22, 5), 1};
  }
  if (format.layout == TexelLayout::Rgb9e5Float) {
    for (unsigned channel = 0; channel < 3; ++channel) {
      colour[channel] = std::ldexp(static_cast<float>(word >> 9 * channel & 511),
                                   static_cast<int>(word >> 27) - 24);
    }
    return colour;
  }
  const PackedChannels channels = bits_of(format.layout);
  for (unsigned channel = 0; channel < 4; ++channel) {
    if (channels[channel].count > 0) {
      const std::uint32_t highest = (1U << channels[channel].count) - 1;
      const auto value = static_cast<float>(word >> channels[channel].shift & highest);
      colour[channel] =
          format.kind == ChannelKind::Uint ? value : value / static_cast<float>(highest);
    }
  }
  return colour;
}

std::uint32_t encode_rgb9e5(const Colour& colour) {
  std::array<float, 3> values;
  for (unsigned channel = 0; channel < 3; ++channel) {
    values[channel] =
        std::isnan(colour[channel]) ? 0.0F : std::clamp(colour[channel], 0.0F, 65408.0F);
  }
  const float largest = std::max({values[0], values[1], values[2]});
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent = largest == 0 ? -15 : std::max(exponent, -15);
  if (std::nearbyint(std::ldexp(largest, 9 - exponent)) >= 512) {
    ++exponent;
  }
  std::uint32_t word = static_cast<std::uint32_t>(exponent + 15) << 27;
  for (unsigned channel = 0; channel < 3; ++channel) {
    word |= static_cast<std::uint32_t>(std::nearbyint(std::ldexp(values[channel], 9 - exponent)))
            << 9 * channel;
  }
  return word;
}

void encode_packed(const PixelFormat& format, const Colour& colour, std::byte* texel) {
  std::uint32_t word = 0;
  if (format.layout == TexelLayout::Rg11b10Float) {
    word = write_small_float(colour[0], 6) | write_small_float(colour[1], 6) << 11 |
           write_small_float(colour[2], 5) << 22;
  } else if (format.layout == TexelLayout::Rgb9e5Float) {
    word = encode_rgb9e5(colour);
  } else {
    const PackedChannels channels = bits_of(format.layout);
    for (unsigned channel = 0; channel < 4; ++channel) {
      if (channels[channel].count == 0) {
        continue;
      }
      const auto highest = static_cast<float>((1U << channels[channel].count) - 1);
      const float value = format.kind == ChannelKind::Uint
                              ? std::clamp(colour[channel], 0.0F, highest)
                              : clamp_unit(colour[channel], 0.0F) * highest;
      word |= static_cast<std::uint32_t>(format.kind == ChannelKind::Uint ? value
                                                                          : std::nearbyint(value))
              << channels[channel].shift;
    }
  }
  std::memcpy(texel, &word, format.texel_bytes);
}

}  // namespace

const PixelFormat* find_pixel_format(MTL::PixelFormat format) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const PixelFormat& row) { return row.format == format; });
  return found != std::end(kFormats) ? found : nullptr;
}

Colour decode(const PixelFormat& format, const std::byte* texel) {
  if (format.channel_bytes == 0) {
    return decode_packed(format, texel);
  }
  Colour colour = {0, 0, 0, 1};
  for (unsigned channel = 0; channel < format.channels; ++channel) {
    colour[channel] =
        read_channel(format.kind, format.channel_bytes, texel + channel * format.channel_bytes);
    if (format.is_srgb && channel < 3) {
      colour[channel] = from_srgb(colour[channel]);
    }
  }
  if (format.layout == TexelLayout::ReversedChannels) {
    std::swap(colour[0], colour[2]);
  } else if (format.layout == TexelLayout::Alpha) {
    colour = {0, 0, 0, colour[0]};
  }
  return colour;
}

void encode(const PixelFormat& format, const Colour& colour, std::byte* texel) {
  if (format.channel_bytes == 0) {
    encode_packed(format, colour, texel);
    return;
  }
  Colour stored = colour;
  if (format.layout == TexelLayout::ReversedChannels) {
    std::swap(stored[0], stored[2]);
  } else if (format.layout == TexelLayout::Alpha) {
    stored[0] = colour[3];
  }
  for (unsigned channel = 0; channel < format.channels; ++channel) {
    write_channel(format.kind, format.channel_bytes,
                  format.is_srgb && channel < 3 ? to_srgb(stored[channel]) : stored[channel],
                  texel + channel * format.channel_bytes);
  }
}

std::array<abi::TextureChannel, 4> channels_of(const PixelFormat& format) {
  PackedChannels places = {};
  if (format.channel_bytes == 0) {
    places = bits_of(format.layout);
  } else if (format.layout == TexelLayout::Alpha) {
    places[3] = {0, 8U * format.channel_bytes};
  } else {
    for (unsigned channel = 0; channel < format.channels; ++channel) {
      places[channel] = {channel * 8U * format.channel_bytes, 8U * format.channel_bytes};
    }
    if (format.layout == TexelLayout::ReversedChannels) {
      std::swap(places[0], places[2]);
    }
  }
  std::array<abi::TextureChannel, 4> result = {};
  for (unsigned channel = 0; channel < 4; ++channel) {
    const auto [shift, count] = places[channel];
    if (count == 0) {
      // What a format does not have is 0, alpha 1.
      result[channel].kind = ChannelKind::Constant;
      result[channel].scale = channel == 3 ? 1.0F : 0.0F;
      continue;
    }
    ChannelKind kind = format.kind;
    if (format.layout == TexelLayout::Rgb9e5Float) {
      kind = ChannelKind::SharedExponent;
    } else if (kind == ChannelKind::Float && count < 32) {
      kind = ChannelKind::SmallFloat;
    } else if (format.is_srgb && channel < 3) {
      kind = ChannelKind::Srgb;
    }
    const double codes =
        std::ldexp(1.0, static_cast<int>(count) - (kind == ChannelKind::Snorm ? 1 : 0));
    result[channel] = {static_cast<std::uint8_t>(shift / 32),
                       static_cast<std::uint8_t>(32 - shift % 32 - count),
                       static_cast<std::uint8_t>(count), kind, static_cast<float>(codes - 1)};
  }
  return result;
}

const float* srgb_table() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values;
    for (std::size_t byte = 0; byte < values.size(); ++byte) {
      values[byte] = from_srgb(static_cast<float>(byte) / 255.0F);
    }
    return values;
  }();
  return table.data();
}

}  // namespace pewter::driver
