#pragma once

#include <Metal/MTLBlitCommandEncoder.hpp>

#include "pewter/metal/driver/buffer.h"
#include "pewter/metal/driver/command_encoder.h"
#include "pewter/metal/driver/texel_region.h"

namespace pewter::driver {

class IndirectCommandBuffer;
class Texture;

/// A copy between two textures.
struct TextureCopy {
  Texture* source = nullptr;
  std::uint64_t source_slice = 0;
  std::uint64_t source_level = 0;
  MTL::Origin source_origin;
  MTL::Size size;
  Texture* target = nullptr;
  std::uint64_t target_slice = 0;
  std::uint64_t target_level = 0;
  MTL::Origin target_origin;
};

/// Where the texels of a copy are in a buffer.
struct BufferRows {
  Buffer* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes_per_row = 0;
  std::uint64_t bytes_per_image = 0;
};

/// The body of MTL::BlitCommandEncoder.
class BlitCommandEncoder final : public CommandEncoder {
 public:
  using Public = MTL::BlitCommandEncoder;
  static constexpr ClassInfo kClass{"MTL::BlitCommandEncoder", &CommandEncoder::kClass};

  explicit BlitCommandEncoder(Ref<CommandBuffer> buffer)
      : CommandEncoder(kClass, std::move(buffer)) {}

  void fill_bytes(Buffer* target, NS::Range range, std::uint8_t value);
  void copy_bytes(Buffer* source,
                  std::uint64_t source_offset,
                  Buffer* target,
                  std::uint64_t target_offset,
                  std::uint64_t byte_count);
  void reset_commands(IndirectCommandBuffer* target, NS::Range range);
  void copy_commands(IndirectCommandBuffer* source,
                     NS::Range range,
                     IndirectCommandBuffer* target,
                     std::uint64_t index);
  void copy_between_textures(const TextureCopy& copy);
  void copy_with_buffer(bool into_texture,
                        Texture* texture,
                        std::uint64_t slice,
                        std::uint64_t level,
                        const MTL::Origin& origin,
                        const MTL::Size& size,
                        const BufferRows& rows);
  void copy_slices_and_levels(Texture* source,
                              std::uint64_t source_slice,
                              std::uint64_t source_level,
                              Texture* target,
                              std::uint64_t target_slice,
                              std::uint64_t target_level,
                              std::uint64_t slice_count,
                              std::uint64_t level_count);
  void generate_levels(Texture* texture);
  /// For what asks nothing of a device with one memory.
  void ignore(const char* action) { is_open(action); }
  void resolve(CounterSampleBuffer* samples, NS::Range range, Buffer* target, std::uint64_t offset);

 private:
  bool find_region(const char* action,
                   Texture* texture,
                   const MTL::Origin& origin,
                   const MTL::Size& size,
                   std::uint64_t level,
                   std::uint64_t slice,
                   TexelRegion& region);
  void append_copy(const TexelRegion& to, const TexelRegion& from);
  bool has_commands(const char* action, const IndirectCommandBuffer* commands, NS::Range range);
  bool is_inside(const char* action,
                 const char* role,
                 const Buffer* target,
                 std::uint64_t offset,
                 std::uint64_t byte_count);
};

}  // namespace pewter::driver
