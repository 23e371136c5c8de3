#pragma once

#include <Metal/MTLHeap.hpp>
#include <cstdint>
#include <mutex>
#include <optional>

#include "pewter/metal/driver/device_memory.h"
#include "pewter/metal/driver/heap_space.h"
#include "pewter/metal/driver/resource.h"

namespace pewter::driver {

class Buffer;
class Texture;
class TextureDescriptor;

/// The body of MTL::HeapDescriptor.
class HeapDescriptor final : public Object {
 public:
  using Public = MTL::HeapDescriptor;
  static constexpr ClassInfo kClass{"MTL::HeapDescriptor", &Object::kClass};

  HeapDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<HeapDescriptor>(*this); }

  std::uint64_t size = 0;
  MTL::StorageMode storage_mode = MTL::StorageModePrivate;
  MTL::CPUCacheMode cpu_cache_mode = MTL::CPUCacheModeDefaultCache;
  MTL::HazardTrackingMode hazard_tracking_mode = MTL::HazardTrackingModeDefault;
  MTL::SparsePageSize sparse_page_size = MTL::SparsePageSize16;
  MTL::HeapType type = MTL::HeapTypeAutomatic;
};

/// Every buffer of a heap begins at a multiple of this, and takes a multiple of it.
inline constexpr std::uint64_t kHeapAlignment = 256;

/// The body of MTL::Heap. Safe to use from any thread.
class Heap final : public Allocation {
 public:
  using Public = MTL::Heap;
  static constexpr ClassInfo kClass{"MTL::Heap", &Allocation::kClass};

  Heap(DeviceMemory memory, const HeapDescriptor& descriptor);

  /// Null, with a message in the log, when it cannot be had.
  Ref<Buffer> new_buffer(std::uint64_t length, MTL::ResourceOptions options);
  Ref<Buffer> new_buffer(std::uint64_t length, MTL::ResourceOptions options, std::uint64_t offset);

  /// At a given place in a placement heap, and only there.
  Ref<Texture> new_texture(const TextureDescriptor& descriptor,
                           std::optional<std::uint64_t> wanted_offset);

  /// Takes back what a resource of `length` bytes had.
  void give_back(std::uint64_t offset, std::uint64_t length);

  MTL::ResourceOptions options() const { return options_; }
  MTL::HeapType type() const { return type_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t used() const;
  std::uint64_t largest(std::uint64_t alignment) const;

  std::uint64_t allocated_size() const override { return memory_.size(); }
  void discard() { memory_.discard(); }

  Ref<String> label;
  MTL::PurgeableState purgeable = MTL::PurgeableStateNonVolatile;

 private:
  bool accepts(std::uint64_t length, MTL::ResourceOptions options, const char* action) const;
  /// Room for a resource; nothing, with a message in the log, when it cannot be had.
  std::optional<std::uint64_t> claim(std::uint64_t length,
                                     MTL::ResourceOptions options,
                                     std::optional<std::uint64_t> wanted_offset,
                                     const char* action);

  DeviceMemory memory_;
  const std::uint64_t size_;
  const MTL::ResourceOptions options_;
  const MTL::HeapType type_;

  mutable std::mutex mutex_;  // guards the members below
  HeapSpace space_;
  std::uint64_t placed_ = 0;
};

}  // namespace pewter::driver
