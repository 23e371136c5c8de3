#pragma once

#include <cstddef>
#include <cstdint>

/// Textures and samplers as compiled kernels see them.
///
/// `pewter/texture_layout.h` of the MSL standard library has the same structures; a change here is
/// a change there and of `kKernelAbiVersion`.
namespace pewter::abi {

inline constexpr std::uint32_t kMaxTextures = 128;
inline constexpr std::uint32_t kMaxSamplers = 16;
inline constexpr std::uint32_t kMaxTextureLevels = 15;

/// What the bits of a channel mean.
enum class ChannelKind : std::uint8_t {
  Unorm,
  Snorm,
  Uint,
  Sint,
  /// 32 bits.
  Float,
  /// A half, or its exponent and the first bits of its mantissa without the sign.
  SmallFloat,
  /// A byte of the sRGB transfer function.
  Srgb,
  /// A mantissa; the exponent is in the last five bits of the texel.
  SharedExponent,
  /// No bits: `TextureChannel::scale` itself.
  Constant,
};

/// Where one channel is in a texel.
struct TextureChannel {
  /// Word of 32 bits that it lies in.
  std::uint8_t word;
  /// Shift to the left that brings its highest bit to the top of the word.
  std::uint8_t up;
  std::uint8_t bits;
  ChannelKind kind;
  /// The highest number of a normalised channel; the value of a constant.
  float scale;
};

/// One mip level: its texels and its size.
struct TextureLevel {
  std::byte* address;
  std::uint64_t row_bytes;
  /// From one slice of an array, face of a cube or plane of a volume to the next.
  std::uint64_t slice_bytes;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t depth;
  std::uint32_t padding;
};

/// A texture or a view of one.
struct Texture {
  /// Red, green, blue and alpha as kernels read them, swizzled, and as they write them.
  TextureChannel read[4];
  TextureChannel write[4];
  std::uint8_t texel_bytes;
  /// Whether a channel is Srgb, and whether one is SharedExponent.
  std::uint8_t is_srgb;
  std::uint8_t is_shared_exponent;
  std::uint8_t has_alpha;
  std::uint32_t level_count;
  /// Slices of an array, or cubes of an array of cubes; 1 otherwise.
  std::uint32_t array_length;
  std::uint32_t sample_count;
  /// For sRGB, the linear value of each byte.
  const float* from_srgb;
  TextureLevel levels[kMaxTextureLevels];
};
static_assert(sizeof(TextureChannel) == 8 && sizeof(TextureLevel) == 40);
static_assert(sizeof(Texture) == 88 + kMaxTextureLevels * 40);

/// A sampler is 64 bits: fields of these widths from the lowest bit on.
struct SamplerBits {
  static constexpr unsigned kAddressS = 0;           // 3 bits, MTL::SamplerAddressMode
  static constexpr unsigned kAddressT = 3;           // 3 bits
  static constexpr unsigned kAddressR = 6;           // 3 bits
  static constexpr unsigned kMinFilter = 9;          // 1 bit, MTL::SamplerMinMagFilter
  static constexpr unsigned kMagFilter = 10;         // 1 bit
  static constexpr unsigned kMipFilter = 11;         // 2 bits, MTL::SamplerMipFilter
  static constexpr unsigned kPixelCoordinates = 13;  // 1 bit
  static constexpr unsigned kCompare = 14;           // 3 bits, MTL::CompareFunction
  static constexpr unsigned kBorder = 17;            // 2 bits, MTL::SamplerBorderColor
  static constexpr unsigned kReduction = 19;         // 2 bits, MTL::SamplerReductionMode
  static constexpr unsigned kLowestLevel = 32;       // 16 bits, in 256ths
  static constexpr unsigned kHighestLevel = 48;      // 16 bits, in 256ths
};

}  // namespace pewter::abi
