#include <Metal/MTLBlitCommandEncoder.hpp>
#include <algorithm>
#include <string>

#include "pewter/metal/driver/blit_command_encoder.h"
#include "pewter/metal/driver/texture.h"

// Copies between textures and buffers, and mip levels, of MTL::BlitCommandEncoder.
namespace pewter::driver {
namespace {

/// The mean of a block of texels of the level above, two to a side where it has two.
Colour mean(const Texture& texture,
            const abi::TextureLevel& level,
            std::uint32_t slice,
            std::uint32_t x,
            std::uint32_t y,
            std::uint32_t z) {
  Colour sum = {0, 0, 0, 0};
  for (unsigned corner = 0; corner < 8; ++corner) {
    const std::uint64_t at_x = std::min(2 * x + (corner & 1U), level.width - 1);
    const std::uint64_t at_y = std::min(2 * y + (corner >> 1 & 1U), level.height - 1);
    const std::uint64_t at_z = std::min(2 * z + (corner >> 2), level.depth - 1);
    const Colour colour =
        decode(texture.format(), level.address + (slice + at_z) * level.slice_bytes +
                                     at_y * level.row_bytes + at_x * texture.format().texel_bytes);
    for (std::size_t channel = 0; channel < sum.size(); ++channel) {
      sum[channel] += colour[channel] / 8;
    }
  }
  return sum;
}

TexelRegion in_buffer(const TexelRegion& like,
                      std::byte* first,
                      std::uint64_t bytes_per_row,
                      std::uint64_t bytes_per_image) {
  TexelRegion region = like;
  region.first = first;
  region.row_stride = bytes_per_row;
  region.image_stride = bytes_per_image;
  return region;
}

/// Bytes from the first to behind the last of a region.
std::uint64_t extent(const TexelRegion& region) {
  if (region.row_bytes == 0 || region.row_count == 0 || region.image_count == 0) {
    return 0;
  }
  return (region.image_count - 1) * region.image_stride +
         (region.row_count - 1) * region.row_stride + region.row_bytes;
}

}  // namespace

void make_levels(const Texture& texture) {
  const abi::Texture& view = texture.view();
  for (std::uint32_t number = 1; number < view.level_count; ++number) {
    const abi::TextureLevel& from = view.levels[number - 1];
    const abi::TextureLevel& to = view.levels[number];
    const auto slices = static_cast<std::uint32_t>(texture.descriptor().slice_count());
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      for (std::uint32_t z = 0; z < to.depth; ++z) {
        for (std::uint32_t y = 0; y < to.height; ++y) {
          for (std::uint32_t x = 0; x < to.width; ++x) {
            encode(texture.format(), mean(texture, from, slice, x, y, z),
                   to.address + (std::uint64_t{slice} + z) * to.slice_bytes + y * to.row_bytes +
                       std::uint64_t{x} * texture.format().texel_bytes);
          }
        }
      }
    }
  }
}

bool BlitCommandEncoder::find_region(const char* action,
                                     Texture* texture,
                                     const MTL::Origin& origin,
                                     const MTL::Size& size,
                                     std::uint64_t level,
                                     std::uint64_t slice,
                                     TexelRegion& region) {
  std::string problem = "there is no texture";
  const auto found =
      texture != nullptr ? texture->region(origin, size, level, slice, problem) : std::nullopt;
  if (!found) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "{}: {}", action, problem);
    return false;
  }
  region = *found;
  return true;
}

void BlitCommandEncoder::append_copy(const TexelRegion& to, const TexelRegion& from) {
  auto& command = append<CopyTexelsCommand>();
  command.to = to;
  command.from = from;
}

void BlitCommandEncoder::copy_between_textures(const TextureCopy& copy) {
  constexpr const char* kAction = "copyFromTexture";
  TexelRegion from;
  TexelRegion to;
  if (!is_open(kAction) ||
      !find_region(kAction, copy.source, copy.source_origin, copy.size, copy.source_level,
                   copy.source_slice, from) ||
      !find_region(kAction, copy.target, copy.target_origin, copy.size, copy.target_level,
                   copy.target_slice, to)) {
    return;
  }
  if (copy.source->format().texel_bytes != copy.target->format().texel_bytes) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "copyFromTexture from {} to {}: texels of {} and {} bytes",
                    copy.source->format().name, copy.target->format().name,
                    copy.source->format().texel_bytes, copy.target->format().texel_bytes);
    return;
  }
  buffer().keep(copy.source);
  buffer().keep(copy.target);
  append_copy(to, from);
}

void BlitCommandEncoder::copy_with_buffer(bool into_texture,
                                          Texture* texture,
                                          std::uint64_t slice,
                                          std::uint64_t level,
                                          const MTL::Origin& origin,
                                          const MTL::Size& size,
                                          const BufferRows& rows) {
  const char* action = into_texture ? "copyFromBuffer" : "copyFromTexture";
  TexelRegion texels;
  if (!is_open(action) || !find_region(action, texture, origin, size, level, slice, texels)) {
    return;
  }
  if (texels.row_count > 1 && rows.bytes_per_row < texels.row_bytes) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "{}: rows of {} bytes need {}", action,
                    rows.bytes_per_row, texels.row_bytes);
    return;
  }
  const TexelRegion bytes = in_buffer(texels, nullptr, rows.bytes_per_row, rows.bytes_per_image);
  if (!is_inside(action, into_texture ? "source" : "destination", rows.buffer, rows.offset,
                 extent(bytes))) {
    return;
  }
  buffer().keep(texture);
  buffer().keep(rows.buffer);
  TexelRegion in_memory = bytes;
  in_memory.first = rows.buffer->data() + rows.offset;
  if (into_texture) {
    append_copy(texels, in_memory);
  } else {
    append_copy(in_memory, texels);
  }
}

void BlitCommandEncoder::copy_slices_and_levels(Texture* source,
                                                std::uint64_t source_slice,
                                                std::uint64_t source_level,
                                                Texture* target,
                                                std::uint64_t target_slice,
                                                std::uint64_t target_level,
                                                std::uint64_t slice_count,
                                                std::uint64_t level_count) {
  if (source == nullptr || target == nullptr) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "copyFromTexture without a texture");
    return;
  }
  for (std::uint64_t level = 0; level < level_count; ++level) {
    if (source_level + level >= source->view().level_count) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "copyFromTexture of level {}, but the texture has {}", source_level + level,
                      source->view().level_count);
      return;
    }
    const abi::TextureLevel& size = source->view().levels[source_level + level];
    for (std::uint64_t slice = 0; slice < slice_count; ++slice) {
      copy_between_textures({source, source_slice + slice, source_level + level,
                             MTL::Origin(0, 0, 0), MTL::Size(size.width, size.height, size.depth),
                             target, target_slice + slice, target_level + level,
                             MTL::Origin(0, 0, 0)});
    }
  }
}

void BlitCommandEncoder::generate_levels(Texture* texture) {
  if (!is_open("generateMipmaps")) {
    return;
  }
  if (texture == nullptr || texture->view().level_count < 2) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "generateMipmaps of {}",
                    texture == nullptr ? "no texture" : "a texture with one level");
    return;
  }
  const abi::ChannelKind kind = texture->format().kind;
  if (kind == abi::ChannelKind::Uint || kind == abi::ChannelKind::Sint) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "generateMipmaps: pixel format {} cannot be filtered", texture->format().name);
    return;
  }
  buffer().keep(texture);
  append<MakeLevelsCommand>().texture = texture;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::BlitCommandEncoder;
using driver::impl;

namespace {

driver::Texture* body(const MTL::Texture* texture, const std::source_location& where) {
  return impl<driver::Texture>(texture, where);
}

}  // namespace

void MTL::BlitCommandEncoder::synchronizeTexture(const MTL::Texture* texture,
                                                 NS::UInteger,
                                                 NS::UInteger) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::Texture>(texture);
    self->ignore("synchronizeTexture");
  }
}

void MTL::BlitCommandEncoder::copyFromTexture(const MTL::Texture* sourceTexture,
                                              NS::UInteger sourceSlice,
                                              NS::UInteger sourceLevel,
                                              MTL::Origin sourceOrigin,
                                              MTL::Size sourceSize,
                                              const MTL::Texture* destinationTexture,
                                              NS::UInteger destinationSlice,
                                              NS::UInteger destinationLevel,
                                              MTL::Origin destinationOrigin) {
  if (auto* self = impl<Body>(this)) {
    const auto here = std::source_location::current();
    self->copy_between_textures({body(sourceTexture, here), sourceSlice, sourceLevel, sourceOrigin,
                                 sourceSize, body(destinationTexture, here), destinationSlice,
                                 destinationLevel, destinationOrigin});
  }
}

void MTL::BlitCommandEncoder::copyFromBuffer(const MTL::Buffer* sourceBuffer,
                                             NS::UInteger sourceOffset,
                                             NS::UInteger sourceBytesPerRow,
                                             NS::UInteger sourceBytesPerImage,
                                             MTL::Size sourceSize,
                                             const MTL::Texture* destinationTexture,
                                             NS::UInteger destinationSlice,
                                             NS::UInteger destinationLevel,
                                             MTL::Origin destinationOrigin) {
  if (auto* self = impl<Body>(this)) {
    self->copy_with_buffer(
        true, impl<driver::Texture>(destinationTexture), destinationSlice, destinationLevel,
        destinationOrigin, sourceSize,
        {impl<driver::Buffer>(sourceBuffer), sourceOffset, sourceBytesPerRow, sourceBytesPerImage});
  }
}

void MTL::BlitCommandEncoder::copyFromBuffer(const MTL::Buffer* sourceBuffer,
                                             NS::UInteger sourceOffset,
                                             NS::UInteger sourceBytesPerRow,
                                             NS::UInteger sourceBytesPerImage,
                                             MTL::Size sourceSize,
                                             const MTL::Texture* destinationTexture,
                                             NS::UInteger destinationSlice,
                                             NS::UInteger destinationLevel,
                                             MTL::Origin destinationOrigin,
                                             MTL::BlitOption) {
  copyFromBuffer(sourceBuffer, sourceOffset, sourceBytesPerRow, sourceBytesPerImage, sourceSize,
                 destinationTexture, destinationSlice, destinationLevel, destinationOrigin);
}

void MTL::BlitCommandEncoder::copyFromTexture(const MTL::Texture* sourceTexture,
                                              NS::UInteger sourceSlice,
                                              NS::UInteger sourceLevel,
                                              MTL::Origin sourceOrigin,
                                              MTL::Size sourceSize,
                                              const MTL::Buffer* destinationBuffer,
                                              NS::UInteger destinationOffset,
                                              NS::UInteger destinationBytesPerRow,
                                              NS::UInteger destinationBytesPerImage) {
  if (auto* self = impl<Body>(this)) {
    self->copy_with_buffer(false, impl<driver::Texture>(sourceTexture), sourceSlice, sourceLevel,
                           sourceOrigin, sourceSize,
                           {impl<driver::Buffer>(destinationBuffer), destinationOffset,
                            destinationBytesPerRow, destinationBytesPerImage});
  }
}

void MTL::BlitCommandEncoder::copyFromTexture(const MTL::Texture* sourceTexture,
                                              NS::UInteger sourceSlice,
                                              NS::UInteger sourceLevel,
                                              MTL::Origin sourceOrigin,
                                              MTL::Size sourceSize,
                                              const MTL::Buffer* destinationBuffer,
                                              NS::UInteger destinationOffset,
                                              NS::UInteger destinationBytesPerRow,
                                              NS::UInteger destinationBytesPerImage,
                                              MTL::BlitOption) {
  copyFromTexture(sourceTexture, sourceSlice, sourceLevel, sourceOrigin, sourceSize,
                  destinationBuffer, destinationOffset, destinationBytesPerRow,
                  destinationBytesPerImage);
}

void MTL::BlitCommandEncoder::copyFromTexture(const MTL::Texture* sourceTexture,
                                              NS::UInteger sourceSlice,
                                              NS::UInteger sourceLevel,
                                              const MTL::Texture* destinationTexture,
                                              NS::UInteger destinationSlice,
                                              NS::UInteger destinationLevel,
                                              NS::UInteger sliceCount,
                                              NS::UInteger levelCount) {
  if (auto* self = impl<Body>(this)) {
    self->copy_slices_and_levels(impl<driver::Texture>(sourceTexture), sourceSlice, sourceLevel,
                                 impl<driver::Texture>(destinationTexture), destinationSlice,
                                 destinationLevel, sliceCount, levelCount);
  }
}

void MTL::BlitCommandEncoder::copyFromTexture(const MTL::Texture* sourceTexture,
                                              const MTL::Texture* destinationTexture) {
  auto* source = impl<driver::Texture>(sourceTexture);
  copyFromTexture(sourceTexture, 0, 0, destinationTexture, 0, 0,
                  source != nullptr ? source->descriptor().slice_count() : 0,
                  source != nullptr ? source->view().level_count : 0);
}

void MTL::BlitCommandEncoder::generateMipmaps(const MTL::Texture* texture) {
  if (auto* self = impl<Body>(this)) {
    self->generate_levels(impl<driver::Texture>(texture));
  }
}

void MTL::BlitCommandEncoder::optimizeContentsForGPUAccess(const MTL::Texture* texture) {
  synchronizeTexture(texture, 0, 0);
}

void MTL::BlitCommandEncoder::optimizeContentsForGPUAccess(const MTL::Texture* texture,
                                                           NS::UInteger slice,
                                                           NS::UInteger level) {
  synchronizeTexture(texture, slice, level);
}

void MTL::BlitCommandEncoder::optimizeContentsForCPUAccess(const MTL::Texture* texture) {
  synchronizeTexture(texture, 0, 0);
}

void MTL::BlitCommandEncoder::optimizeContentsForCPUAccess(const MTL::Texture* texture,
                                                           NS::UInteger slice,
                                                           NS::UInteger level) {
  synchronizeTexture(texture, slice, level);
}
