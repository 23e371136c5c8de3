#include "pewter/metal/driver/texture_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "pewter/base/texture_abi.h"
#include "pewter/metal/driver/resource.h"

namespace pewter::driver {
namespace {

constexpr NS::UInteger kMaxSide = 16384;
constexpr NS::UInteger kMaxVolumeSide = 2048;
constexpr NS::UInteger kMaxArrayLength = 2048;
constexpr NS::UInteger kMaxBufferTexels = NS::UInteger{1} << 28;

NS::UInteger full_level_count(NS::UInteger side) {
  return static_cast<NS::UInteger>(std::bit_width(std::max<NS::UInteger>(side, 1)));
}

}  // namespace

std::string TextureDescriptor::problem() const {
  if (find_pixel_format(format) == nullptr) {
    return fmt::format("pixel format {} is not supported", static_cast<unsigned>(format));
  }
  if (type == MTL::TextureType2DMultisample || type == MTL::TextureType2DMultisampleArray ||
      sample_count != 1) {
    return "multisampled textures are not supported";
  }
  if (type > MTL::TextureTypeTextureBuffer) {
    return fmt::format("there is no texture type {}", static_cast<unsigned>(type));
  }
  const bool is_volume = type == MTL::TextureType3D;
  const NS::UInteger limit = type == MTL::TextureTypeTextureBuffer ? kMaxBufferTexels
                             : is_volume                           ? kMaxVolumeSide
                                                                   : kMaxSide;
  if (width < 1 || height < 1 || depth < 1 || width > limit || height > limit || depth > limit) {
    return fmt::format("{} x {} x {} texels, where each side is from 1 to {}", width, height, depth,
                       limit);
  }
  if ((is_one_dimensional(type) && height != 1) || (!is_volume && depth != 1)) {
    return fmt::format("{} x {} x {} texels do not fit the texture type {}", width, height, depth,
                       static_cast<unsigned>(type));
  }
  if (is_cube(type) && width != height) {
    return fmt::format("faces of a cube are squares, not {} x {}", width, height);
  }
  if (array_length < 1 || array_length > kMaxArrayLength ||
      (!is_array(type) && array_length != 1)) {
    return fmt::format("array length {}, where {} is possible", array_length,
                       is_array(type) ? fmt::format("1 to {}", kMaxArrayLength) : "only 1");
  }
  const NS::UInteger most_levels =
      is_one_dimensional(type) ? 1 : full_level_count(std::max({width, height, depth}));
  if (level_count < 1 || level_count > most_levels) {
    return fmt::format("{} mip levels, where 1 to {} are possible", level_count, most_levels);
  }
  if (storage_mode(options) > MTL::StorageModePrivate) {
    return fmt::format("storage mode {} is not one that textures have",
                       static_cast<unsigned>(storage_mode(options)));
  }
  return {};
}

std::uint64_t TextureDescriptor::slice_count() const {
  return array_length * (is_cube(type) ? 6 : 1);
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::TextureDescriptor;
using driver::get;

MTL::TextureDescriptor* MTL::TextureDescriptor::alloc() {
  return driver::handle(driver::make<Body>());
}

MTL::TextureDescriptor* MTL::TextureDescriptor::init() {
  return this;
}

MTL::TextureDescriptor* MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormat pixelFormat,
                                                                    NS::UInteger width,
                                                                    NS::UInteger height,
                                                                    bool mipmapped) {
  auto descriptor = driver::make_ref<Body>();
  descriptor->format = pixelFormat;
  descriptor->width = width;
  descriptor->height = height;
  descriptor->level_count = mipmapped ? driver::full_level_count(std::max(width, height)) : 1;
  return driver::autoreleased(std::move(descriptor));
}

MTL::TextureDescriptor* MTL::TextureDescriptor::textureCubeDescriptor(MTL::PixelFormat pixelFormat,
                                                                      NS::UInteger size,
                                                                      bool mipmapped) {
  auto descriptor = driver::make_ref<Body>();
  descriptor->type = TextureTypeCube;
  descriptor->format = pixelFormat;
  descriptor->width = size;
  descriptor->height = size;
  descriptor->level_count = mipmapped ? driver::full_level_count(size) : 1;
  return driver::autoreleased(std::move(descriptor));
}

MTL::TextureDescriptor* MTL::TextureDescriptor::textureBufferDescriptor(
    MTL::PixelFormat pixelFormat,
    NS::UInteger width,
    MTL::ResourceOptions resourceOptions,
    MTL::TextureUsage usage) {
  auto descriptor = driver::make_ref<Body>();
  descriptor->type = TextureTypeTextureBuffer;
  descriptor->format = pixelFormat;
  descriptor->width = width;
  descriptor->options = resourceOptions;
  descriptor->usage = usage;
  return driver::autoreleased(std::move(descriptor));
}

MTL::TextureType MTL::TextureDescriptor::textureType() const {
  return get(this, &Body::type);
}

void MTL::TextureDescriptor::setTextureType(MTL::TextureType textureType) {
  driver::set(this, &Body::type, textureType);
}

MTL::PixelFormat MTL::TextureDescriptor::pixelFormat() const {
  return get(this, &Body::format);
}

void MTL::TextureDescriptor::setPixelFormat(MTL::PixelFormat pixelFormat) {
  driver::set(this, &Body::format, pixelFormat);
}

NS::UInteger MTL::TextureDescriptor::width() const {
  return get(this, &Body::width);
}

void MTL::TextureDescriptor::setWidth(NS::UInteger width) {
  driver::set(this, &Body::width, width);
}

NS::UInteger MTL::TextureDescriptor::height() const {
  return get(this, &Body::height);
}

void MTL::TextureDescriptor::setHeight(NS::UInteger height) {
  driver::set(this, &Body::height, height);
}

NS::UInteger MTL::TextureDescriptor::depth() const {
  return get(this, &Body::depth);
}

void MTL::TextureDescriptor::setDepth(NS::UInteger depth) {
  driver::set(this, &Body::depth, depth);
}

NS::UInteger MTL::TextureDescriptor::mipmapLevelCount() const {
  return get(this, &Body::level_count);
}

void MTL::TextureDescriptor::setMipmapLevelCount(NS::UInteger mipmapLevelCount) {
  driver::set(this, &Body::level_count, mipmapLevelCount);
}

NS::UInteger MTL::TextureDescriptor::sampleCount() const {
  return get(this, &Body::sample_count);
}

void MTL::TextureDescriptor::setSampleCount(NS::UInteger sampleCount) {
  driver::set(this, &Body::sample_count, sampleCount);
}

NS::UInteger MTL::TextureDescriptor::arrayLength() const {
  return get(this, &Body::array_length);
}

void MTL::TextureDescriptor::setArrayLength(NS::UInteger arrayLength) {
  driver::set(this, &Body::array_length, arrayLength);
}

MTL::ResourceOptions MTL::TextureDescriptor::resourceOptions() const {
  return get(this, &Body::options);
}

void MTL::TextureDescriptor::setResourceOptions(MTL::ResourceOptions resourceOptions) {
  driver::set(this, &Body::options, resourceOptions);
}

MTL::TextureUsage MTL::TextureDescriptor::usage() const {
  return get(this, &Body::usage);
}

void MTL::TextureDescriptor::setUsage(MTL::TextureUsage usage) {
  driver::set(this, &Body::usage, usage);
}

bool MTL::TextureDescriptor::allowGPUOptimizedContents() const {
  return get(this, &Body::allow_gpu_optimized);
}

void MTL::TextureDescriptor::setAllowGPUOptimizedContents(bool allowGPUOptimizedContents) {
  driver::set(this, &Body::allow_gpu_optimized, allowGPUOptimizedContents);
}

MTL::TextureCompressionType MTL::TextureDescriptor::compressionType() const {
  return get(this, &Body::compression);
}

void MTL::TextureDescriptor::setCompressionType(MTL::TextureCompressionType compressionType) {
  driver::set(this, &Body::compression, compressionType);
}

MTL::TextureSwizzleChannels MTL::TextureDescriptor::swizzle() const {
  return get(this, &Body::swizzle);
}

void MTL::TextureDescriptor::setSwizzle(MTL::TextureSwizzleChannels swizzle) {
  driver::set(this, &Body::swizzle, swizzle);
}

MTL::CPUCacheMode MTL::TextureDescriptor::cpuCacheMode() const {
  return driver::cpu_cache_mode(resourceOptions());
}

void MTL::TextureDescriptor::setCpuCacheMode(MTL::CPUCacheMode cpuCacheMode) {
  setResourceOptions(driver::resource_options(storageMode(), cpuCacheMode, hazardTrackingMode()));
}

MTL::StorageMode MTL::TextureDescriptor::storageMode() const {
  return driver::storage_mode(resourceOptions());
}

void MTL::TextureDescriptor::setStorageMode(MTL::StorageMode storageMode) {
  setResourceOptions(driver::resource_options(storageMode, cpuCacheMode(), hazardTrackingMode()));
}

MTL::HazardTrackingMode MTL::TextureDescriptor::hazardTrackingMode() const {
  return driver::hazard_tracking_mode(resourceOptions());
}

void MTL::TextureDescriptor::setHazardTrackingMode(MTL::HazardTrackingMode hazardTrackingMode) {
  setResourceOptions(driver::resource_options(storageMode(), cpuCacheMode(), hazardTrackingMode));
}
