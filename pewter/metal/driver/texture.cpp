#include "pewter/metal/driver/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/heap.h"

namespace pewter::driver {
namespace {

// Each level begins at a multiple of this, so that texels are aligned.
constexpr std::uint64_t kLevelAlignment = 64;

std::uint64_t side_at(std::uint64_t side, std::uint64_t level) {
  return std::max<std::uint64_t>(side >> level, 1);
}

Ref<TextureDescriptor> copy_of(const TextureDescriptor& descriptor) {
  return Ref<TextureDescriptor>::adopt(static_cast<TextureDescriptor*>(descriptor.copy()));
}

}  // namespace

Texture::Texture(DeviceMemory memory, const TextureDescriptor& descriptor)
    : Resource(kClass, descriptor.options),
      descriptor_(copy_of(descriptor)),
      format_(find_pixel_format(descriptor.format)),
      memory_(std::move(memory)) {
  describe();
  lay_out(memory_->data());
}

Texture::Texture(Ref<Heap> heap,
                 std::uint64_t heap_offset,
                 std::byte* memory,
                 const TextureDescriptor& descriptor)
    : Resource(kClass, descriptor.options, std::move(heap), heap_offset),
      descriptor_(copy_of(descriptor)),
      format_(find_pixel_format(descriptor.format)) {
  describe();
  lay_out(memory);
}

Texture::Texture(Ref<Buffer> buffer,
                 std::uint64_t offset,
                 std::uint64_t bytes_per_row,
                 const TextureDescriptor& descriptor)
    : Resource(kClass, buffer->options()),
      descriptor_(copy_of(descriptor)),
      format_(find_pixel_format(descriptor.format)),
      buffer_(std::move(buffer)),
      buffer_offset_(offset),
      bytes_per_row_(bytes_per_row) {
  describe();
  lay_out(buffer_->data() + offset);
  view_.levels[0].row_bytes = bytes_per_row;
  view_.levels[0].slice_bytes = bytes_per_row * descriptor.height;
}

Texture::Texture(Ref<Texture> parent,
                 std::uint64_t first_level,
                 std::uint64_t first_slice,
                 const TextureDescriptor& descriptor)
    : Resource(kClass, parent->options()),
      descriptor_(copy_of(descriptor)),
      format_(find_pixel_format(descriptor.format)),
      parent_(std::move(parent)),
      first_level_(first_level),
      first_slice_(first_slice) {
  describe();
  for (std::uint64_t level = 0; level < descriptor_->level_count; ++level) {
    view_.levels[level] = parent_->view_.levels[first_level + level];
    view_.levels[level].address += first_slice * view_.levels[level].slice_bytes;
  }
}

Texture::~Texture() {
  make_aliasable();
}

void Texture::describe() {
  const auto channels = channels_of(*format_);
  const MTL::TextureSwizzleChannels& swizzle = descriptor_->swizzle;
  const MTL::TextureSwizzle choices[] = {swizzle.red, swizzle.green, swizzle.blue, swizzle.alpha};
  for (std::size_t channel = 0; channel < channels.size(); ++channel) {
    view_.write[channel] = channels[channel];
    if (choices[channel] >= MTL::TextureSwizzleRed) {
      view_.read[channel] = channels[(choices[channel] - MTL::TextureSwizzleRed) % 4U];
    } else {
      view_.read[channel].kind = abi::ChannelKind::Constant;
      view_.read[channel].scale = choices[channel] == MTL::TextureSwizzleOne ? 1.0F : 0.0F;
    }
  }
  view_.texel_bytes = format_->texel_bytes;
  view_.is_srgb = format_->is_srgb ? 1 : 0;
  view_.is_shared_exponent = format_->layout == TexelLayout::Rgb9e5Float ? 1 : 0;
  view_.has_alpha = channels[3].kind != abi::ChannelKind::Constant ? 1 : 0;
  view_.from_srgb = format_->is_srgb ? srgb_table() : nullptr;
  view_.level_count = static_cast<std::uint32_t>(descriptor_->level_count);
  view_.array_length = static_cast<std::uint32_t>(descriptor_->array_length);
  view_.sample_count = 1;
}

void Texture::lay_out(std::byte* memory) {
  const std::uint64_t slices = descriptor_->slice_count();
  for (std::uint64_t number = 0; number < descriptor_->level_count; ++number) {
    abi::TextureLevel& level = view_.levels[number];
    level.address = memory;
    level.width = static_cast<std::uint32_t>(side_at(descriptor_->width, number));
    level.height = static_cast<std::uint32_t>(side_at(descriptor_->height, number));
    level.depth = static_cast<std::uint32_t>(side_at(descriptor_->depth, number));
    level.row_bytes = std::uint64_t{level.width} * format_->texel_bytes;
    level.slice_bytes = level.row_bytes * level.height;
    const std::uint64_t bytes = level.slice_bytes * level.depth * slices;
    memory += (bytes + kLevelAlignment - 1) / kLevelAlignment * kLevelAlignment;
  }
}

std::uint64_t Texture::byte_count(const TextureDescriptor& descriptor) {
  const PixelFormat* format = find_pixel_format(descriptor.format);
  std::uint64_t total = 0;
  for (std::uint64_t level = 0; level < descriptor.level_count; ++level) {
    const std::uint64_t bytes =
        side_at(descriptor.width, level) * side_at(descriptor.height, level) *
        side_at(descriptor.depth, level) * descriptor.slice_count() * format->texel_bytes;
    total += (bytes + kLevelAlignment - 1) / kLevelAlignment * kLevelAlignment;
  }
  return total;
}

std::optional<TexelRegion> Texture::region(const MTL::Origin& origin,
                                           const MTL::Size& size,
                                           std::uint64_t level,
                                           std::uint64_t slice,
                                           std::string& problem) const {
  if (level >= view_.level_count || slice >= descriptor_->slice_count()) {
    problem = fmt::format("level {} and slice {} of a texture of {} levels and {} slices", level,
                          slice, view_.level_count, descriptor_->slice_count());
    return std::nullopt;
  }
  const abi::TextureLevel& data = view_.levels[level];
  const auto fits = [](std::uint64_t start, std::uint64_t length, std::uint64_t limit) {
    return start <= limit && length <= limit - start;
  };
  if (!fits(origin.x, size.width, data.width) || !fits(origin.y, size.height, data.height) ||
      !fits(origin.z, size.depth, data.depth)) {
    problem = fmt::format("{} x {} x {} texels at ({}, {}, {}) exceed a level of {} x {} x {}",
                          size.width, size.height, size.depth, origin.x, origin.y, origin.z,
                          data.width, data.height, data.depth);
    return std::nullopt;
  }
  TexelRegion result;
  result.first = data.address + (slice + origin.z) * data.slice_bytes + origin.y * data.row_bytes +
                 origin.x * format_->texel_bytes;
  result.row_bytes = size.width * format_->texel_bytes;
  result.row_stride = data.row_bytes;
  result.row_count = size.height;
  result.image_stride = data.slice_bytes;
  result.image_count = size.depth;
  return result;
}

std::uint64_t Texture::allocated_size() const {
  if (memory_) {
    return memory_->size();
  }
  if (heap() == nullptr) {
    return 0;
  }
  return (byte_count(*descriptor_) + kHeapAlignment - 1) / kHeapAlignment * kHeapAlignment;
}

void Texture::discard() {
  if (memory_) {
    memory_->discard();
  }
}

void copy_texels(const TexelRegion& to, const TexelRegion& from) {
  for (std::uint64_t image = 0; image < from.image_count; ++image) {
    for (std::uint64_t row = 0; row < from.row_count; ++row) {
      std::memcpy(to.first + image * to.image_stride + row * to.row_stride,
                  from.first + image * from.image_stride + row * from.row_stride, from.row_bytes);
    }
  }
}

}  // namespace pewter::driver
