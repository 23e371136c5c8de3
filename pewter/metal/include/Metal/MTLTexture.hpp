#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLPixelFormat.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;

_MTL_ENUM(NS::UInteger, TextureType){
    TextureType1D = 0,
    TextureType1DArray = 1,
    TextureType2D = 2,
    TextureType2DArray = 3,
    TextureType2DMultisample = 4,
    TextureTypeCube = 5,
    TextureTypeCubeArray = 6,
    TextureType3D = 7,
    TextureType2DMultisampleArray = 8,
    TextureTypeTextureBuffer = 9,
};

_MTL_ENUM(std::uint8_t, TextureSwizzle){
    TextureSwizzleZero = 0,  TextureSwizzleOne = 1,  TextureSwizzleRed = 2,
    TextureSwizzleGreen = 3, TextureSwizzleBlue = 4, TextureSwizzleAlpha = 5,
};

/// Which channel of a texel, or which number, a kernel reads in each place.
struct TextureSwizzleChannels {
  MTL::TextureSwizzle red;
  MTL::TextureSwizzle green;
  MTL::TextureSwizzle blue;
  MTL::TextureSwizzle alpha;
};

_MTL_OPTIONS(NS::UInteger, TextureUsage){
    TextureUsageUnknown = 0,      TextureUsageShaderRead = 1,       TextureUsageShaderWrite = 2,
    TextureUsageRenderTarget = 4, TextureUsagePixelFormatView = 16, TextureUsageShaderAtomic = 32,
};

_MTL_ENUM(NS::Integer, TextureCompressionType){
    TextureCompressionTypeLossless = 0,
    TextureCompressionTypeLossy = 1,
};

class _MTL_EXPORT TextureDescriptor : public NS::Copying<TextureDescriptor> {
 public:
  static TextureDescriptor* alloc();
  TextureDescriptor* init();

  static TextureDescriptor* texture2DDescriptor(MTL::PixelFormat pixelFormat,
                                                NS::UInteger width,
                                                NS::UInteger height,
                                                bool mipmapped);
  static TextureDescriptor* textureCubeDescriptor(MTL::PixelFormat pixelFormat,
                                                  NS::UInteger size,
                                                  bool mipmapped);
  static TextureDescriptor* textureBufferDescriptor(MTL::PixelFormat pixelFormat,
                                                    NS::UInteger width,
                                                    MTL::ResourceOptions resourceOptions,
                                                    MTL::TextureUsage usage);

  MTL::TextureType textureType() const;
  void setTextureType(MTL::TextureType textureType);

  MTL::PixelFormat pixelFormat() const;
  void setPixelFormat(MTL::PixelFormat pixelFormat);

  NS::UInteger width() const;
  void setWidth(NS::UInteger width);

  NS::UInteger height() const;
  void setHeight(NS::UInteger height);

  NS::UInteger depth() const;
  void setDepth(NS::UInteger depth);

  NS::UInteger mipmapLevelCount() const;
  void setMipmapLevelCount(NS::UInteger mipmapLevelCount);

  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger sampleCount);

  NS::UInteger arrayLength() const;
  void setArrayLength(NS::UInteger arrayLength);

  MTL::ResourceOptions resourceOptions() const;
  void setResourceOptions(MTL::ResourceOptions resourceOptions);

  MTL::CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(MTL::CPUCacheMode cpuCacheMode);

  MTL::StorageMode storageMode() const;
  void setStorageMode(MTL::StorageMode storageMode);

  MTL::HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(MTL::HazardTrackingMode hazardTrackingMode);

  MTL::TextureUsage usage() const;
  void setUsage(MTL::TextureUsage usage);

  bool allowGPUOptimizedContents() const;
  void setAllowGPUOptimizedContents(bool allowGPUOptimizedContents);

  MTL::TextureCompressionType compressionType() const;
  void setCompressionType(MTL::TextureCompressionType compressionType);

  MTL::TextureSwizzleChannels swizzle() const;
  void setSwizzle(MTL::TextureSwizzleChannels swizzle);
};

/// Texels that kernels read, write and sample.
class _MTL_EXPORT Texture : public NS::Referencing<Texture, Resource> {
 public:
  Resource* rootResource() const;

  /// The texture that this one is a view of; null when it is none.
  Texture* parentTexture() const;
  NS::UInteger parentRelativeLevel() const;
  NS::UInteger parentRelativeSlice() const;

  /// The buffer that holds the texels; null when the texture has memory of its own.
  Buffer* buffer() const;
  NS::UInteger bufferOffset() const;
  NS::UInteger bufferBytesPerRow() const;

  MTL::TextureType textureType() const;
  MTL::PixelFormat pixelFormat() const;
  NS::UInteger width() const;
  NS::UInteger height() const;
  NS::UInteger depth() const;
  NS::UInteger mipmapLevelCount() const;
  NS::UInteger sampleCount() const;
  NS::UInteger arrayLength() const;
  MTL::TextureUsage usage() const;
  bool shareable() const;
  bool isShareable() const;
  bool framebufferOnly() const;
  bool isFramebufferOnly() const;
  bool allowGPUOptimizedContents() const;
  MTL::TextureCompressionType compressionType() const;
  MTL::TextureSwizzleChannels swizzle() const;

  /// What a texture of an argument buffer is.
  MTL::ResourceID gpuResourceID() const;

  /// Copies texels out of the texture. Nothing is waited for.
  void getBytes(void* pixelBytes,
                NS::UInteger bytesPerRow,
                NS::UInteger bytesPerImage,
                MTL::Region region,
                NS::UInteger level,
                NS::UInteger slice);
  void getBytes(void* pixelBytes, NS::UInteger bytesPerRow, MTL::Region region, NS::UInteger level);

  /// Copies texels into the texture.
  void replaceRegion(MTL::Region region,
                     NS::UInteger level,
                     NS::UInteger slice,
                     const void* pixelBytes,
                     NS::UInteger bytesPerRow,
                     NS::UInteger bytesPerImage);
  void replaceRegion(MTL::Region region,
                     NS::UInteger level,
                     const void* pixelBytes,
                     NS::UInteger bytesPerRow);

  /// The same texels under another format of the same size, or part of them.
  Texture* newTextureView(MTL::PixelFormat pixelFormat);
  Texture* newTextureView(MTL::PixelFormat pixelFormat,
                          MTL::TextureType textureType,
                          NS::Range levelRange,
                          NS::Range sliceRange);
  Texture* newTextureView(MTL::PixelFormat pixelFormat,
                          MTL::TextureType textureType,
                          NS::Range levelRange,
                          NS::Range sliceRange,
                          MTL::TextureSwizzleChannels swizzle);
};

}  // namespace MTL
