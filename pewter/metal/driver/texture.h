#pragma once

#include <Metal/MTLTexture.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pewter/base/texture_abi.h"
#include "pewter/metal/driver/buffer.h"
#include "pewter/metal/driver/device_memory.h"
#include "pewter/metal/driver/resource.h"
#include "pewter/metal/driver/texel_region.h"
#include "pewter/metal/driver/texture_descriptor.h"

namespace pewter::driver {

/// The body of MTL::Texture: texels of its own, in a heap or in a buffer, or a view of another.
class Texture final : public Resource {
 public:
  using Public = MTL::Texture;
  static constexpr ClassInfo kClass{"MTL::Texture", &Resource::kClass};

  /// With memory of its own, of `byte_count(descriptor)` bytes or more.
  Texture(DeviceMemory memory, const TextureDescriptor& descriptor);
  /// Part of a heap.
  Texture(Ref<Heap> heap,
          std::uint64_t heap_offset,
          std::byte* memory,
          const TextureDescriptor& descriptor);
  /// Rows of a buffer.
  Texture(Ref<Buffer> buffer,
          std::uint64_t offset,
          std::uint64_t bytes_per_row,
          const TextureDescriptor& descriptor);
  /// A view of some levels and slices of another texture, as the descriptor says.
  Texture(Ref<Texture> parent,
          std::uint64_t first_level,
          std::uint64_t first_slice,
          const TextureDescriptor& descriptor);
  ~Texture() override;

  /// Bytes that the texels of such a texture take.
  static std::uint64_t byte_count(const TextureDescriptor& descriptor);

  /// What kernels see. Stays where it is as long as the texture lives.
  const abi::Texture& view() const { return view_; }
  const PixelFormat& format() const { return *format_; }
  const TextureDescriptor& descriptor() const { return *descriptor_; }

  const Texture* parent() const { return parent_.get(); }
  const Buffer* buffer() const { return buffer_.get(); }
  std::uint64_t first_level() const { return first_level_; }
  std::uint64_t first_slice() const { return first_slice_; }
  std::uint64_t buffer_offset() const { return buffer_offset_; }
  std::uint64_t bytes_per_row() const { return bytes_per_row_; }

  /// The texels of a region; nothing, with the reason in `problem`, when they are not all there.
  std::optional<TexelRegion> region(const MTL::Origin& origin,
                                    const MTL::Size& size,
                                    std::uint64_t level,
                                    std::uint64_t slice,
                                    std::string& problem) const;

  std::uint64_t allocated_size() const override;
  void discard() override;

 private:
  void describe();
  void lay_out(std::byte* memory);

  const Ref<TextureDescriptor> descriptor_;
  const PixelFormat* const format_;
  abi::Texture view_ = {};
  std::optional<DeviceMemory> memory_;
  Ref<Buffer> buffer_;
  Ref<Texture> parent_;
  std::uint64_t first_level_ = 0;
  std::uint64_t first_slice_ = 0;
  std::uint64_t buffer_offset_ = 0;
  std::uint64_t bytes_per_row_ = 0;
};

/// Copies the texels of one region to another of the same rows and images.
void copy_texels(const TexelRegion& to, const TexelRegion& from);

/// Makes each mip level from the one before.
void make_levels(const Texture& texture);

}  // namespace pewter::driver
