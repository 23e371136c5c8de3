#include "pewter/metal/driver/resource.h"

#include <utility>

#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/heap.h"

namespace pewter::driver {

Resource::Resource(const ClassInfo& class_info, MTL::ResourceOptions options)
    : Allocation(class_info),
      options_(options),
      tracked_(hazard_tracking_mode(options) != MTL::HazardTrackingModeUntracked) {}

Resource::Resource(const ClassInfo& class_info,
                   MTL::ResourceOptions options,
                   Ref<Heap> heap,
                   std::uint64_t heap_offset)
    : Allocation(class_info),
      options_(options),
      // Resources of a heap are tracked, or not, together with it.
      tracked_(hazard_tracking_mode(heap->options()) == MTL::HazardTrackingModeTracked),
      heap_(std::move(heap)),
      heap_offset_(heap_offset) {}

Resource::~Resource() = default;

void Resource::make_aliasable() {
  if (heap_ && !std::exchange(aliasable_, true)) {
    heap_->give_back(heap_offset_, allocated_size());
  }
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Resource;
using driver::get;
using driver::impl;

NS::UInteger MTL::Allocation::allocatedSize() const {
  auto* self = impl<driver::Allocation>(this);
  return self != nullptr ? self->allocated_size() : 0;
}

NS::String* MTL::Resource::label() const {
  return get(this, &Body::label);
}

void MTL::Resource::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}

MTL::Device* MTL::Resource::device() const {
  return driver::device_of(impl<Body>(this));
}

MTL::CPUCacheMode MTL::Resource::cpuCacheMode() const {
  return driver::cpu_cache_mode(resourceOptions());
}

MTL::StorageMode MTL::Resource::storageMode() const {
  return driver::storage_mode(resourceOptions());
}

MTL::HazardTrackingMode MTL::Resource::hazardTrackingMode() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return HazardTrackingModeDefault;
  }
  return self->is_tracked() ? HazardTrackingModeTracked : HazardTrackingModeUntracked;
}

MTL::ResourceOptions MTL::Resource::resourceOptions() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->options() : ResourceOptions{0};
}

MTL::PurgeableState MTL::Resource::setPurgeableState(MTL::PurgeableState state) {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return static_cast<PurgeableState>(0);
  }
  if (state == PurgeableStateKeepCurrent) {
    return self->purgeable;
  }
  if (state == PurgeableStateEmpty) {
    self->discard();
  }
  return std::exchange(self->purgeable, state);
}

MTL::Heap* MTL::Resource::heap() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? driver::handle(self->heap()) : nullptr;
}

NS::UInteger MTL::Resource::heapOffset() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->heap_offset() : 0;
}

void MTL::Resource::makeAliasable() {
  if (auto* self = impl<Body>(this)) {
    self->make_aliasable();
  }
}

bool MTL::Resource::isAliasable() {
  auto* self = impl<Body>(this);
  return self != nullptr && self->is_aliasable();
}
