#pragma once

#include <Metal/MTLAllocation.hpp>
#include <Metal/MTLResource.hpp>
#include <cstdint>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

class Heap;

/// The body of MTL::Allocation: memory with a size.
class Allocation : public Object {
 public:
  using Public = MTL::Allocation;
  static constexpr ClassInfo kClass{"MTL::Allocation", &Object::kClass};

  /// Bytes that it takes from the device, or from its heap.
  virtual std::uint64_t allocated_size() const = 0;

 protected:
  explicit Allocation(const ClassInfo& class_info) : Object(class_info) {}
};

inline MTL::StorageMode storage_mode(MTL::ResourceOptions options) {
  return static_cast<MTL::StorageMode>((options >> 4) & 0xf);
}
inline MTL::CPUCacheMode cpu_cache_mode(MTL::ResourceOptions options) {
  return static_cast<MTL::CPUCacheMode>(options & 0xf);
}
inline MTL::HazardTrackingMode hazard_tracking_mode(MTL::ResourceOptions options) {
  return static_cast<MTL::HazardTrackingMode>((options >> 8) & 0x3);
}
inline MTL::ResourceOptions resource_options(MTL::StorageMode storage,
                                             MTL::CPUCacheMode cache,
                                             MTL::HazardTrackingMode tracking) {
  return storage << 4 | cache | tracking << 8;
}

/// The body of MTL::Resource.
class Resource : public Allocation {
 public:
  using Public = MTL::Resource;
  static constexpr ClassInfo kClass{"MTL::Resource", &Allocation::kClass};

  /// Whether the driver orders accesses to it. Default means yes for resources of their own and no
  /// in heaps.
  bool is_tracked() const { return tracked_; }

  MTL::ResourceOptions options() const { return options_; }
  Heap* heap() const { return heap_.get(); }
  std::uint64_t heap_offset() const { return heap_offset_; }

  /// Lets the heap give the memory to others while this resource lives.
  void make_aliasable();
  bool is_aliasable() const { return aliasable_; }

  /// Drops the contents.
  virtual void discard() = 0;

  Ref<String> label;
  MTL::PurgeableState purgeable = MTL::PurgeableStateNonVolatile;

 protected:
  Resource(const ClassInfo& class_info, MTL::ResourceOptions options);
  Resource(const ClassInfo& class_info,
           MTL::ResourceOptions options,
           Ref<Heap> heap,
           std::uint64_t heap_offset);
  ~Resource() override;

 private:
  const MTL::ResourceOptions options_;
  const bool tracked_;
  const Ref<Heap> heap_;
  const std::uint64_t heap_offset_ = 0;
  bool aliasable_ = false;
};

}  // namespace pewter::driver
