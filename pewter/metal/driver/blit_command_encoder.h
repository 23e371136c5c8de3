#pragma once

#include <Metal/MTLBlitCommandEncoder.hpp>

#include "pewter/metal/driver/buffer.h"
#include "pewter/metal/driver/command_encoder.h"

namespace pewter::driver {

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
  /// For what asks nothing of a device with one memory.
  void ignore(const char* action) { is_open(action); }
  void reject_counters(const char* action);

 private:
  bool is_inside(const char* action,
                 const char* role,
                 const Buffer* target,
                 std::uint64_t offset,
                 std::uint64_t byte_count);
};

}  // namespace pewter::driver
