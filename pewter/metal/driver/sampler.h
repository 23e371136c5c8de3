#pragma once

#include <Metal/MTLSampler.hpp>
#include <cstdint>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::SamplerDescriptor.
class SamplerDescriptor final : public Object {
 public:
  using Public = MTL::SamplerDescriptor;
  static constexpr ClassInfo kClass{"MTL::SamplerDescriptor", &Object::kClass};

  SamplerDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<SamplerDescriptor>(*this); }

  /// The sampler as kernels see it: see abi::SamplerBits.
  std::uint64_t bits() const;

  MTL::SamplerMinMagFilter min_filter = MTL::SamplerMinMagFilterNearest;
  MTL::SamplerMinMagFilter mag_filter = MTL::SamplerMinMagFilterNearest;
  MTL::SamplerMipFilter mip_filter = MTL::SamplerMipFilterNotMipmapped;
  NS::UInteger max_anisotropy = 1;
  MTL::SamplerAddressMode s_address = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerAddressMode t_address = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerAddressMode r_address = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerBorderColor border = MTL::SamplerBorderColorTransparentBlack;
  bool normalized = true;
  float lowest_level = 0;
  float highest_level = 1000;
  bool lod_average = false;
  MTL::CompareFunction compare = MTL::CompareFunctionNever;
  bool support_argument_buffers = false;
  Ref<String> label;
};

/// The body of MTL::SamplerState.
class SamplerState final : public Object {
 public:
  using Public = MTL::SamplerState;
  static constexpr ClassInfo kClass{"MTL::SamplerState", &Object::kClass};

  explicit SamplerState(const SamplerDescriptor& descriptor)
      : Object(kClass), bits(descriptor.bits()), label(descriptor.label) {}

  /// The same sampler with other limits to the level.
  std::uint64_t bits_with_levels(float lowest, float highest) const;

  const std::uint64_t bits;
  const Ref<String> label;
};

}  // namespace pewter::driver
