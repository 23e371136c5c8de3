#pragma once

#include <Metal/MTLTexture.hpp>
#include <cstdint>
#include <string>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/pixel_format.h"

namespace pewter::driver {

/// The body of MTL::TextureDescriptor.
class TextureDescriptor final : public Object {
 public:
  using Public = MTL::TextureDescriptor;
  static constexpr ClassInfo kClass{"MTL::TextureDescriptor", &Object::kClass};

  TextureDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<TextureDescriptor>(*this); }

  /// Why the device has no such texture; empty when it has.
  std::string problem() const;

  /// Images of one level: slices of an array times faces of a cube.
  std::uint64_t slice_count() const;

  MTL::TextureType type = MTL::TextureType2D;
  MTL::PixelFormat format = MTL::PixelFormatRGBA8Unorm;
  NS::UInteger width = 1;
  NS::UInteger height = 1;
  NS::UInteger depth = 1;
  NS::UInteger level_count = 1;
  NS::UInteger sample_count = 1;
  NS::UInteger array_length = 1;
  MTL::ResourceOptions options = MTL::ResourceStorageModeShared;
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead;
  bool allow_gpu_optimized = true;
  MTL::TextureCompressionType compression = MTL::TextureCompressionTypeLossless;
  MTL::TextureSwizzleChannels swizzle = {MTL::TextureSwizzleRed, MTL::TextureSwizzleGreen,
                                         MTL::TextureSwizzleBlue, MTL::TextureSwizzleAlpha};
};

inline bool is_cube(MTL::TextureType type) {
  return type == MTL::TextureTypeCube || type == MTL::TextureTypeCubeArray;
}
inline bool is_one_dimensional(MTL::TextureType type) {
  return type == MTL::TextureType1D || type == MTL::TextureType1DArray ||
         type == MTL::TextureTypeTextureBuffer;
}
inline bool is_array(MTL::TextureType type) {
  return type == MTL::TextureType1DArray || type == MTL::TextureType2DArray ||
         type == MTL::TextureTypeCubeArray;
}

}  // namespace pewter::driver
