#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLDepthStencil.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;

_MTL_ENUM(NS::UInteger, SamplerMinMagFilter){
    SamplerMinMagFilterNearest = 0,
    SamplerMinMagFilterLinear = 1,
};

_MTL_ENUM(NS::UInteger, SamplerMipFilter){
    SamplerMipFilterNotMipmapped = 0,
    SamplerMipFilterNearest = 1,
    SamplerMipFilterLinear = 2,
};

_MTL_ENUM(NS::UInteger, SamplerAddressMode){
    SamplerAddressModeClampToEdge = 0, SamplerAddressModeMirrorClampToEdge = 1,
    SamplerAddressModeRepeat = 2,      SamplerAddressModeMirrorRepeat = 3,
    SamplerAddressModeClampToZero = 4, SamplerAddressModeClampToBorderColor = 5,
};

_MTL_ENUM(NS::UInteger, SamplerBorderColor){
    SamplerBorderColorTransparentBlack = 0,
    SamplerBorderColorOpaqueBlack = 1,
    SamplerBorderColorOpaqueWhite = 2,
};

class _MTL_EXPORT SamplerDescriptor : public NS::Copying<SamplerDescriptor> {
 public:
  static SamplerDescriptor* alloc();
  SamplerDescriptor* init();

  MTL::SamplerMinMagFilter minFilter() const;
  void setMinFilter(MTL::SamplerMinMagFilter minFilter);

  MTL::SamplerMinMagFilter magFilter() const;
  void setMagFilter(MTL::SamplerMinMagFilter magFilter);

  MTL::SamplerMipFilter mipFilter() const;
  void setMipFilter(MTL::SamplerMipFilter mipFilter);

  /// Stored; kernels have no footprint that it could change.
  NS::UInteger maxAnisotropy() const;
  void setMaxAnisotropy(NS::UInteger maxAnisotropy);

  MTL::SamplerAddressMode sAddressMode() const;
  void setSAddressMode(MTL::SamplerAddressMode sAddressMode);

  MTL::SamplerAddressMode tAddressMode() const;
  void setTAddressMode(MTL::SamplerAddressMode tAddressMode);

  MTL::SamplerAddressMode rAddressMode() const;
  void setRAddressMode(MTL::SamplerAddressMode rAddressMode);

  MTL::SamplerBorderColor borderColor() const;
  void setBorderColor(MTL::SamplerBorderColor borderColor);

  bool normalizedCoordinates() const;
  void setNormalizedCoordinates(bool normalizedCoordinates);

  float lodMinClamp() const;
  void setLodMinClamp(float lodMinClamp);

  float lodMaxClamp() const;
  void setLodMaxClamp(float lodMaxClamp);

  bool lodAverage() const;
  void setLodAverage(bool lodAverage);

  MTL::CompareFunction compareFunction() const;
  void setCompareFunction(MTL::CompareFunction compareFunction);

  bool supportArgumentBuffers() const;
  void setSupportArgumentBuffers(bool supportArgumentBuffers);

  NS::String* label() const;
  void setLabel(const NS::String* label);
};

/// How kernels sample textures.
class _MTL_EXPORT SamplerState : public NS::Referencing<SamplerState> {
 public:
  NS::String* label() const;
  Device* device() const;

  /// What a sampler of an argument buffer is.
  MTL::ResourceID gpuResourceID() const;
};

}  // namespace MTL
