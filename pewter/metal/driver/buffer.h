#pragma once

#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLDevice.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pewter/metal/driver/device_memory.h"
#include "pewter/metal/driver/resource.h"

namespace pewter::driver {

/// The body of MTL::Buffer.
class Buffer final : public Resource {
 public:
  using Public = MTL::Buffer;
  static constexpr ClassInfo kClass{"MTL::Buffer", &Resource::kClass};

  /// With memory of its own.
  Buffer(DeviceMemory memory, std::uint64_t length, MTL::ResourceOptions options);
  /// On the caller's memory.
  Buffer(void* memory,
         std::uint64_t length,
         MTL::ResourceOptions options,
         MTL::NewBufferDeallocatorFunction deallocator);
  /// Part of a heap.
  Buffer(Ref<Heap> heap,
         std::uint64_t heap_offset,
         std::byte* memory,
         std::uint64_t length,
         MTL::ResourceOptions options);
  ~Buffer() override;

  /// Where the bytes are, whatever the storage mode; 128-byte aligned unless the caller's.
  std::byte* data() const { return data_; }
  std::uint64_t length() const { return length_; }

  std::uint64_t allocated_size() const override;
  void discard() override;

 private:
  std::byte* const data_;
  const std::uint64_t length_;
  std::optional<DeviceMemory> memory_;
  const bool borrowed_ = false;
  const MTL::NewBufferDeallocatorFunction deallocator_;
};

}  // namespace pewter::driver
