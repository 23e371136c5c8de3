#include <fmt/format.h>
#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLHeap.hpp>
#include <limits>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/heap.h"
#include "pewter/metal/driver/texture.h"

namespace driver = pewter::driver;
using Body = driver::Texture;
using driver::handle;
using driver::impl;
using driver::Ref;
using Descriptor = driver::TextureDescriptor;

namespace pewter::driver {
namespace {

/// Rows of textures in buffers begin at multiples of this.
constexpr NS::UInteger kLinearAlignment = 16;

/// The descriptor, when the device has such a texture; says why not in the log.
const TextureDescriptor* checked(const MTL::TextureDescriptor* descriptor,
                                 const std::source_location& where) {
  auto* given = impl<TextureDescriptor>(descriptor, where);
  if (given == nullptr) {
    return nullptr;
  }
  if (const std::string problem = given->problem(); !problem.empty()) {
    logging::error("metal", "newTexture: {}", problem);
    return nullptr;
  }
  const std::uint64_t bytes = Texture::byte_count(*given);
  if (bytes > device().max_buffer_length()) {
    logging::error("metal", "newTexture: texture of {} bytes exceeds the device's limit of {}",
                   bytes, device().max_buffer_length());
    return nullptr;
  }
  return given;
}

/// Why a buffer cannot hold such a texture; empty when it can.
std::string misfit(const TextureDescriptor& wanted,
                   const Buffer& buffer,
                   std::uint64_t offset,
                   std::uint64_t bytes_per_row) {
  const PixelFormat& format = *find_pixel_format(wanted.format);
  const bool is_buffer_texture = wanted.type == MTL::TextureTypeTextureBuffer;
  if (wanted.type != MTL::TextureType2D && wanted.type != MTL::TextureType1D &&
      !is_buffer_texture) {
    return "textures in buffers are 1D, 2D or buffers of texels";
  }
  if (wanted.level_count != 1) {
    return fmt::format("a texture in a buffer has 1 mip level, not {}", wanted.level_count);
  }
  const std::uint64_t row = wanted.width * format.texel_bytes;
  const std::uint64_t alignment = is_buffer_texture ? format.texel_bytes : kLinearAlignment;
  if (bytes_per_row < row || offset % alignment != 0 ||
      (wanted.height > 1 && bytes_per_row % kLinearAlignment != 0)) {
    return fmt::format("rows of {} bytes at offset {}: texels need {} and alignment to {}",
                       bytes_per_row, offset, row, alignment);
  }
  if (offset > buffer.length() ||
      (wanted.height - 1) * bytes_per_row + row > buffer.length() - offset) {
    return fmt::format("{} rows of {} bytes at offset {} exceed the buffer's {} bytes",
                       wanted.height, bytes_per_row, offset, buffer.length());
  }
  return {};
}

/// Why there is no such view of a texture; empty when there is.
std::string misfit(const Texture& texture,
                   const TextureDescriptor& wanted,
                   NS::Range levels,
                   NS::Range slices) {
  const PixelFormat* format = find_pixel_format(wanted.format);
  if (format == nullptr || format->texel_bytes != texture.format().texel_bytes) {
    return fmt::format("pixel format {} does not have the {} bytes of {}",
                       static_cast<unsigned>(wanted.format), texture.format().texel_bytes,
                       texture.format().name);
  }
  const TextureDescriptor& have = texture.descriptor();
  if (levels.length < 1 || levels.location >= have.level_count ||
      levels.length > have.level_count - levels.location) {
    return fmt::format("levels {} to {} of {}", levels.location, levels.location + levels.length,
                       have.level_count);
  }
  const std::uint64_t slice_count = have.slice_count();
  if (slices.length < 1 || slices.location >= slice_count ||
      slices.length > slice_count - slices.location) {
    return fmt::format("slices {} to {} of {}", slices.location, slices.location + slices.length,
                       slice_count);
  }
  const bool keeps_shape = is_one_dimensional(wanted.type) == is_one_dimensional(have.type) &&
                           (wanted.type == MTL::TextureType3D) == (have.type == MTL::TextureType3D);
  const bool fills_slices = wanted.slice_count() == slices.length;
  if (!keeps_shape || !fills_slices || (is_cube(wanted.type) && have.width != have.height)) {
    return fmt::format("texture type {} cannot be seen as type {} with {} slices",
                       static_cast<unsigned>(have.type), static_cast<unsigned>(wanted.type),
                       slices.length);
  }
  return {};
}

Ref<Texture> new_view(Texture& texture,
                      MTL::PixelFormat format,
                      MTL::TextureType type,
                      NS::Range levels,
                      NS::Range slices,
                      const MTL::TextureSwizzleChannels& swizzle) {
  auto wanted =
      Ref<TextureDescriptor>::adopt(static_cast<TextureDescriptor*>(texture.descriptor().copy()));
  wanted->format = format;
  wanted->type = type;
  wanted->swizzle = swizzle;
  wanted->level_count = levels.length;
  wanted->array_length = is_array(type) ? slices.length / (is_cube(type) ? 6 : 1) : 1;
  if (const std::string problem = misfit(texture, *wanted, levels, slices); !problem.empty()) {
    logging::error("metal", "newTextureView: {}", problem);
    return nullptr;
  }
  const abi::TextureLevel& first = texture.view().levels[levels.location];
  wanted->width = first.width;
  wanted->height = first.height;
  wanted->depth = first.depth;
  return make_ref<Texture>(Ref<Texture>(&texture), levels.location, slices.location, *wanted);
}

/// The region of a texture and its counterpart in the caller's memory; false, with the reason in
/// the log, when they do not fit.
bool prepare_copy(const char* action,
                  const Texture& texture,
                  const MTL::Region& region,
                  NS::UInteger level,
                  NS::UInteger slice,
                  const void* bytes,
                  NS::UInteger bytes_per_row,
                  NS::UInteger bytes_per_image,
                  TexelRegion& in_texture,
                  TexelRegion& in_memory) {
  std::string problem;
  const auto found = texture.region(region.origin, region.size, level, slice, problem);
  if (found && bytes == nullptr) {
    problem = "there is no memory";
  } else if (found && storage_mode(texture.options()) == MTL::StorageModePrivate) {
    problem = "the texture has private storage";
  } else if (found && region.size.height > 1 && bytes_per_row < found->row_bytes) {
    problem = fmt::format("rows of {} bytes need {}", bytes_per_row, found->row_bytes);
  }
  if (!problem.empty()) {
    logging::error("metal", "{}: {}", action, problem);
    return false;
  }
  in_texture = *found;
  in_memory = *found;
  // For copies out the bytes are not const; who calls knows.
  in_memory.first = static_cast<std::byte*>(const_cast<void*>(bytes));
  in_memory.row_stride = bytes_per_row;
  in_memory.image_stride = bytes_per_image;
  return true;
}

const TextureDescriptor& facts(const MTL::Texture* texture, const std::source_location& where) {
  static const TextureDescriptor& none = *make<TextureDescriptor>();
  auto* self = impl<Texture>(texture, where);
  return self != nullptr ? self->descriptor() : none;
}

}  // namespace

Ref<Texture> Heap::new_texture(const TextureDescriptor& descriptor,
                               std::optional<std::uint64_t> wanted_offset) {
  const std::uint64_t length = Texture::byte_count(descriptor);
  const auto offset = claim(length, descriptor.options, wanted_offset, "newTexture");
  return offset ? make_ref<Texture>(Ref<Heap>(this), *offset, memory_.data() + *offset, descriptor)
                : nullptr;
}

}  // namespace pewter::driver

using Here = std::source_location;

MTL::Texture* MTL::Device::newTexture(const TextureDescriptor* descriptor) {
  const Descriptor* wanted = driver::checked(descriptor, Here::current());
  if (impl<driver::Device>(this) == nullptr || wanted == nullptr) {
    return nullptr;
  }
  auto memory = driver::DeviceMemory::allocate(Body::byte_count(*wanted));
  return memory ? handle(driver::make<Body>(*std::move(memory), *wanted)) : nullptr;
}

NS::UInteger MTL::Device::minimumLinearTextureAlignmentForPixelFormat(MTL::PixelFormat format) {
  return driver::find_pixel_format(format) != nullptr ? driver::kLinearAlignment : 0;
}

NS::UInteger MTL::Device::minimumTextureBufferAlignmentForPixelFormat(MTL::PixelFormat format) {
  const driver::PixelFormat* known = driver::find_pixel_format(format);
  return known != nullptr ? known->texel_bytes : 0;
}

MTL::SizeAndAlign MTL::Device::heapTextureSizeAndAlign(const TextureDescriptor* desc) {
  const Descriptor* wanted = driver::checked(desc, Here::current());
  if (impl<driver::Device>(this) == nullptr || wanted == nullptr) {
    return {};
  }
  constexpr std::uint64_t kAlignment = driver::kHeapAlignment;
  return {(Body::byte_count(*wanted) + kAlignment - 1) / kAlignment * kAlignment, kAlignment};
}

MTL::Texture* MTL::Buffer::newTexture(const TextureDescriptor* descriptor,
                                      NS::UInteger offset,
                                      NS::UInteger bytesPerRow) {
  auto* self = impl<driver::Buffer>(this);
  const Descriptor* wanted = driver::checked(descriptor, Here::current());
  if (self == nullptr || wanted == nullptr) {
    return nullptr;
  }
  if (const std::string problem = driver::misfit(*wanted, *self, offset, bytesPerRow);
      !problem.empty()) {
    pewter::logging::error("metal", "newTexture: {}", problem);
    return nullptr;
  }
  return handle(driver::make<Body>(Ref<driver::Buffer>(self), offset, bytesPerRow, *wanted));
}

MTL::Texture* MTL::Heap::newTexture(const TextureDescriptor* descriptor) {
  auto* self = impl<driver::Heap>(this);
  const Descriptor* wanted = driver::checked(descriptor, Here::current());
  return self != nullptr && wanted != nullptr
             ? handle(self->new_texture(*wanted, std::nullopt).leak())
             : nullptr;
}

MTL::Texture* MTL::Heap::newTexture(const TextureDescriptor* descriptor, NS::UInteger offset) {
  auto* self = impl<driver::Heap>(this);
  const Descriptor* wanted = driver::checked(descriptor, Here::current());
  return self != nullptr && wanted != nullptr ? handle(self->new_texture(*wanted, offset).leak())
                                              : nullptr;
}

MTL::Resource* MTL::Texture::rootResource() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return nullptr;
  }
  const Body* root = self;
  while (root->parent() != nullptr) {
    root = root->parent();
  }
  return root->buffer() != nullptr ? static_cast<Resource*>(handle(root->buffer()))
                                   : static_cast<Resource*>(handle(root));
}

MTL::Texture* MTL::Texture::parentTexture() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->parent() != nullptr ? handle(self->parent()) : nullptr;
}

NS::UInteger MTL::Texture::parentRelativeLevel() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->first_level() : 0;
}

NS::UInteger MTL::Texture::parentRelativeSlice() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->first_slice() : 0;
}

MTL::Buffer* MTL::Texture::buffer() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->buffer() != nullptr ? handle(self->buffer()) : nullptr;
}

NS::UInteger MTL::Texture::bufferOffset() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->buffer_offset() : 0;
}

NS::UInteger MTL::Texture::bufferBytesPerRow() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->bytes_per_row() : 0;
}

MTL::TextureType MTL::Texture::textureType() const {
  return driver::facts(this, Here::current()).type;
}

MTL::PixelFormat MTL::Texture::pixelFormat() const {
  return driver::facts(this, Here::current()).format;
}

NS::UInteger MTL::Texture::width() const {
  return driver::facts(this, Here::current()).width;
}

NS::UInteger MTL::Texture::height() const {
  return driver::facts(this, Here::current()).height;
}

NS::UInteger MTL::Texture::depth() const {
  return driver::facts(this, Here::current()).depth;
}

NS::UInteger MTL::Texture::mipmapLevelCount() const {
  return driver::facts(this, Here::current()).level_count;
}

NS::UInteger MTL::Texture::sampleCount() const {
  return driver::facts(this, Here::current()).sample_count;
}

NS::UInteger MTL::Texture::arrayLength() const {
  return driver::facts(this, Here::current()).array_length;
}

MTL::TextureUsage MTL::Texture::usage() const {
  return driver::facts(this, Here::current()).usage;
}

bool MTL::Texture::shareable() const {
  return isShareable();
}

bool MTL::Texture::isShareable() const {
  return false;
}

bool MTL::Texture::framebufferOnly() const {
  return isFramebufferOnly();
}

bool MTL::Texture::isFramebufferOnly() const {
  return false;
}

bool MTL::Texture::allowGPUOptimizedContents() const {
  return driver::facts(this, Here::current()).allow_gpu_optimized;
}

MTL::TextureCompressionType MTL::Texture::compressionType() const {
  return driver::facts(this, Here::current()).compression;
}

MTL::TextureSwizzleChannels MTL::Texture::swizzle() const {
  return driver::facts(this, Here::current()).swizzle;
}

MTL::ResourceID MTL::Texture::gpuResourceID() const {
  auto* self = impl<Body>(this);
  return {self != nullptr ? reinterpret_cast<std::uintptr_t>(&self->view()) : 0};
}

void MTL::Texture::getBytes(void* pixelBytes,
                            NS::UInteger bytesPerRow,
                            NS::UInteger bytesPerImage,
                            MTL::Region region,
                            NS::UInteger level,
                            NS::UInteger slice) {
  driver::TexelRegion in_texture;
  driver::TexelRegion in_memory;
  auto* self = impl<Body>(this);
  if (self != nullptr && driver::prepare_copy("getBytes", *self, region, level, slice, pixelBytes,
                                              bytesPerRow, bytesPerImage, in_texture, in_memory)) {
    driver::copy_texels(in_memory, in_texture);
  }
}

void MTL::Texture::getBytes(void* pixelBytes,
                            NS::UInteger bytesPerRow,
                            MTL::Region region,
                            NS::UInteger level) {
  getBytes(pixelBytes, bytesPerRow, bytesPerRow * region.size.height, region, level, 0);
}

void MTL::Texture::replaceRegion(MTL::Region region,
                                 NS::UInteger level,
                                 NS::UInteger slice,
                                 const void* pixelBytes,
                                 NS::UInteger bytesPerRow,
                                 NS::UInteger bytesPerImage) {
  driver::TexelRegion in_texture;
  driver::TexelRegion in_memory;
  auto* self = impl<Body>(this);
  if (self != nullptr &&
      driver::prepare_copy("replaceRegion", *self, region, level, slice, pixelBytes, bytesPerRow,
                           bytesPerImage, in_texture, in_memory)) {
    driver::copy_texels(in_texture, in_memory);
  }
}

void MTL::Texture::replaceRegion(MTL::Region region,
                                 NS::UInteger level,
                                 const void* pixelBytes,
                                 NS::UInteger bytesPerRow) {
  replaceRegion(region, level, 0, pixelBytes, bytesPerRow, bytesPerRow * region.size.height);
}

MTL::Texture* MTL::Texture::newTextureView(MTL::PixelFormat pixelFormat) {
  auto* self = impl<Body>(this);
  return self != nullptr ? newTextureView(pixelFormat, self->descriptor().type,
                                          NS::Range(0, self->descriptor().level_count),
                                          NS::Range(0, self->descriptor().slice_count()))
                         : nullptr;
}

MTL::Texture* MTL::Texture::newTextureView(MTL::PixelFormat pixelFormat,
                                           MTL::TextureType textureType,
                                           NS::Range levelRange,
                                           NS::Range sliceRange) {
  return newTextureView(pixelFormat, textureType, levelRange, sliceRange, swizzle());
}

MTL::Texture* MTL::Texture::newTextureView(MTL::PixelFormat pixelFormat,
                                           MTL::TextureType textureType,
                                           NS::Range levelRange,
                                           NS::Range sliceRange,
                                           MTL::TextureSwizzleChannels swizzle) {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(driver::new_view(*self, pixelFormat, textureType, levelRange,
                                                   sliceRange, swizzle)
                                      .leak())
                         : nullptr;
}
