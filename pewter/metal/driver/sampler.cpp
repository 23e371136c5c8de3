#include "pewter/metal/driver/sampler.h"

#include <Metal/MTLDevice.hpp>
#include <algorithm>

#include "pewter/base/log.h"
#include "pewter/base/texture_abi.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {
namespace {

using abi::SamplerBits;

std::uint64_t level_bits(float lowest, float highest) {
  const auto fixed = [](float level) {
    return static_cast<std::uint64_t>(std::clamp(level * 256.0F, 0.0F, 65535.0F));
  };
  return fixed(lowest) << SamplerBits::kLowestLevel | fixed(highest) << SamplerBits::kHighestLevel;
}

constexpr std::uint64_t kLevelMask = ~std::uint64_t{0} << SamplerBits::kLowestLevel;

/// Why the device has no such sampler; null when it has.
const char* problem(const SamplerDescriptor& descriptor) {
  const auto fits = [](MTL::SamplerAddressMode mode) {
    return mode == MTL::SamplerAddressModeClampToEdge || mode == MTL::SamplerAddressModeClampToZero;
  };
  if (!descriptor.normalized && (!fits(descriptor.s_address) || !fits(descriptor.t_address) ||
                                 descriptor.mip_filter != MTL::SamplerMipFilterNotMipmapped ||
                                 descriptor.min_filter != descriptor.mag_filter)) {
    return "coordinates in pixels need equal filters, no mip levels and clamping to edge or zero";
  }
  if (descriptor.max_anisotropy < 1 || descriptor.max_anisotropy > 16) {
    return "maxAnisotropy is from 1 to 16";
  }
  return nullptr;
}

}  // namespace

std::uint64_t SamplerDescriptor::bits() const {
  return std::uint64_t{s_address} << SamplerBits::kAddressS |
         std::uint64_t{t_address} << SamplerBits::kAddressT |
         std::uint64_t{r_address} << SamplerBits::kAddressR |
         std::uint64_t{min_filter} << SamplerBits::kMinFilter |
         std::uint64_t{mag_filter} << SamplerBits::kMagFilter |
         std::uint64_t{mip_filter} << SamplerBits::kMipFilter |
         std::uint64_t{!normalized} << SamplerBits::kPixelCoordinates |
         std::uint64_t{compare} << SamplerBits::kCompare |
         std::uint64_t{border} << SamplerBits::kBorder | level_bits(lowest_level, highest_level);
}

std::uint64_t SamplerState::bits_with_levels(float lowest, float highest) const {
  return (bits & ~kLevelMask) | level_bits(lowest, highest);
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::SamplerDescriptor;
using driver::get;
using driver::impl;

MTL::SamplerState* MTL::Device::newSamplerState(const SamplerDescriptor* descriptor) {
  auto* given = impl<Body>(descriptor);
  if (impl<driver::Device>(this) == nullptr || given == nullptr) {
    return nullptr;
  }
  if (const char* problem = driver::problem(*given)) {
    pewter::logging::error("metal", "newSamplerState: {}", problem);
    return nullptr;
  }
  return driver::handle(driver::make<driver::SamplerState>(*given));
}

NS::String* MTL::SamplerState::label() const {
  auto* self = impl<driver::SamplerState>(this);
  return self != nullptr ? driver::handle(self->label) : nullptr;
}

MTL::Device* MTL::SamplerState::device() const {
  return driver::device_of(impl<driver::SamplerState>(this));
}

MTL::ResourceID MTL::SamplerState::gpuResourceID() const {
  auto* self = impl<driver::SamplerState>(this);
  return {self != nullptr ? self->bits : 0};
}

MTL::SamplerDescriptor* MTL::SamplerDescriptor::alloc() {
  return driver::handle(driver::make<Body>());
}

MTL::SamplerDescriptor* MTL::SamplerDescriptor::init() {
  return this;
}

MTL::SamplerMinMagFilter MTL::SamplerDescriptor::minFilter() const {
  return get(this, &Body::min_filter);
}

void MTL::SamplerDescriptor::setMinFilter(MTL::SamplerMinMagFilter minFilter) {
  driver::set(this, &Body::min_filter, minFilter);
}

MTL::SamplerMinMagFilter MTL::SamplerDescriptor::magFilter() const {
  return get(this, &Body::mag_filter);
}

void MTL::SamplerDescriptor::setMagFilter(MTL::SamplerMinMagFilter magFilter) {
  driver::set(this, &Body::mag_filter, magFilter);
}

MTL::SamplerMipFilter MTL::SamplerDescriptor::mipFilter() const {
  return get(this, &Body::mip_filter);
}

void MTL::SamplerDescriptor::setMipFilter(MTL::SamplerMipFilter mipFilter) {
  driver::set(this, &Body::mip_filter, mipFilter);
}

NS::UInteger MTL::SamplerDescriptor::maxAnisotropy() const {
  return get(this, &Body::max_anisotropy);
}

void MTL::SamplerDescriptor::setMaxAnisotropy(NS::UInteger maxAnisotropy) {
  driver::set(this, &Body::max_anisotropy, maxAnisotropy);
}

MTL::SamplerAddressMode MTL::SamplerDescriptor::sAddressMode() const {
  return get(this, &Body::s_address);
}

void MTL::SamplerDescriptor::setSAddressMode(MTL::SamplerAddressMode sAddressMode) {
  driver::set(this, &Body::s_address, sAddressMode);
}

MTL::SamplerAddressMode MTL::SamplerDescriptor::tAddressMode() const {
  return get(this, &Body::t_address);
}

void MTL::SamplerDescriptor::setTAddressMode(MTL::SamplerAddressMode tAddressMode) {
  driver::set(this, &Body::t_address, tAddressMode);
}

MTL::SamplerAddressMode MTL::SamplerDescriptor::rAddressMode() const {
  return get(this, &Body::r_address);
}

void MTL::SamplerDescriptor::setRAddressMode(MTL::SamplerAddressMode rAddressMode) {
  driver::set(this, &Body::r_address, rAddressMode);
}

MTL::SamplerBorderColor MTL::SamplerDescriptor::borderColor() const {
  return get(this, &Body::border);
}

void MTL::SamplerDescriptor::setBorderColor(MTL::SamplerBorderColor borderColor) {
  driver::set(this, &Body::border, borderColor);
}

bool MTL::SamplerDescriptor::normalizedCoordinates() const {
  return get(this, &Body::normalized);
}

void MTL::SamplerDescriptor::setNormalizedCoordinates(bool normalizedCoordinates) {
  driver::set(this, &Body::normalized, normalizedCoordinates);
}

float MTL::SamplerDescriptor::lodMinClamp() const {
  return get(this, &Body::lowest_level);
}

void MTL::SamplerDescriptor::setLodMinClamp(float lodMinClamp) {
  driver::set(this, &Body::lowest_level, lodMinClamp);
}

float MTL::SamplerDescriptor::lodMaxClamp() const {
  return get(this, &Body::highest_level);
}

void MTL::SamplerDescriptor::setLodMaxClamp(float lodMaxClamp) {
  driver::set(this, &Body::highest_level, lodMaxClamp);
}

bool MTL::SamplerDescriptor::lodAverage() const {
  return get(this, &Body::lod_average);
}

void MTL::SamplerDescriptor::setLodAverage(bool lodAverage) {
  driver::set(this, &Body::lod_average, lodAverage);
}

MTL::CompareFunction MTL::SamplerDescriptor::compareFunction() const {
  return get(this, &Body::compare);
}

void MTL::SamplerDescriptor::setCompareFunction(MTL::CompareFunction compareFunction) {
  driver::set(this, &Body::compare, compareFunction);
}

bool MTL::SamplerDescriptor::supportArgumentBuffers() const {
  return get(this, &Body::support_argument_buffers);
}

void MTL::SamplerDescriptor::setSupportArgumentBuffers(bool supportArgumentBuffers) {
  driver::set(this, &Body::support_argument_buffers, supportArgumentBuffers);
}

NS::String* MTL::SamplerDescriptor::label() const {
  return get(this, &Body::label);
}

void MTL::SamplerDescriptor::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}
