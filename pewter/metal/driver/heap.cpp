#include "pewter/metal/driver/heap.h"

#include <Metal/MTLBuffer.hpp>
#include <algorithm>
#include <bit>

#include "pewter/base/log.h"
#include "pewter/metal/driver/buffer.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {
namespace {

std::uint64_t rounded(std::uint64_t length) {
  return (length + kHeapAlignment - 1) / kHeapAlignment * kHeapAlignment;
}

MTL::ResourceOptions options_of(const HeapDescriptor& descriptor) {
  return resource_options(descriptor.storage_mode, descriptor.cpu_cache_mode,
                          descriptor.hazard_tracking_mode);
}

}  // namespace

Heap::Heap(DeviceMemory memory, const HeapDescriptor& descriptor)
    : Allocation(kClass),
      memory_(std::move(memory)),
      size_(descriptor.size),
      options_(options_of(descriptor)),
      type_(descriptor.type),
      space_(rounded(descriptor.size)) {}

bool Heap::accepts(std::uint64_t length, MTL::ResourceOptions options, const char* action) const {
  if (length == 0) {
    logging::error("metal", "{}: a buffer of 0 bytes cannot be made", action);
    return false;
  }
  if (storage_mode(options) != storage_mode(options_) ||
      cpu_cache_mode(options) != cpu_cache_mode(options_)) {
    logging::error("metal",
                   "{}: options {:#x} have another storage or cache mode than the heap's {:#x}",
                   action, options, options_);
    return false;
  }
  return true;
}

std::optional<std::uint64_t> Heap::claim(std::uint64_t length,
                                         MTL::ResourceOptions options,
                                         std::optional<std::uint64_t> wanted_offset,
                                         const char* action) {
  if (!accepts(length, options, action)) {
    return std::nullopt;
  }
  if ((type_ == MTL::HeapTypePlacement) != wanted_offset.has_value()) {
    logging::error("metal", "{}: {}", action,
                   wanted_offset ? "only a placement heap takes an offset"
                                 : "a placement heap needs an offset");
    return std::nullopt;
  }
  if (wanted_offset) {
    const std::uint64_t offset = *wanted_offset;
    if (offset % kHeapAlignment != 0 || offset > size_ || length > size_ - offset) {
      logging::error("metal", "{}: {} bytes at {} are not aligned to {} or exceed the heap's {}",
                     action, length, offset, kHeapAlignment, size_);
      return std::nullopt;
    }
    std::scoped_lock lock(mutex_);
    placed_ += rounded(length);
    return offset;
  }
  std::optional<std::uint64_t> offset;
  if (length <= size_) {
    std::scoped_lock lock(mutex_);
    offset = space_.take(rounded(length), kHeapAlignment);
  }
  if (!offset) {
    logging::error("metal", "{}: buffer of {} bytes exceeds the heap's largest gap of {}", action,
                   length, largest(kHeapAlignment));
  }
  return offset;
}

Ref<Buffer> Heap::new_buffer(std::uint64_t length, MTL::ResourceOptions options) {
  const auto offset = claim(length, options, std::nullopt, "newBuffer");
  return offset
             ? make_ref<Buffer>(Ref<Heap>(this), *offset, memory_.data() + *offset, length, options)
             : nullptr;
}

Ref<Buffer> Heap::new_buffer(std::uint64_t length,
                             MTL::ResourceOptions options,
                             std::uint64_t offset) {
  return claim(length, options, offset, "newBuffer")
             ? make_ref<Buffer>(Ref<Heap>(this), offset, memory_.data() + offset, length, options)
             : nullptr;
}

void Heap::give_back(std::uint64_t offset, std::uint64_t length) {
  std::scoped_lock lock(mutex_);
  if (type_ == MTL::HeapTypePlacement) {
    placed_ -= rounded(length);
  } else {
    space_.give_back(offset, rounded(length));
  }
}

std::uint64_t Heap::used() const {
  std::scoped_lock lock(mutex_);
  return type_ == MTL::HeapTypePlacement ? placed_ : space_.used();
}

std::uint64_t Heap::largest(std::uint64_t alignment) const {
  std::scoped_lock lock(mutex_);
  return space_.largest(std::max(alignment, kHeapAlignment));
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Heap;
using Descriptor = driver::HeapDescriptor;
using driver::get;
using driver::handle;
using driver::impl;

MTL::SizeAndAlign MTL::Device::heapBufferSizeAndAlign(NS::UInteger length, MTL::ResourceOptions) {
  if (impl<driver::Device>(this) == nullptr) {
    return {};
  }
  return {driver::rounded(length), driver::kHeapAlignment};
}

MTL::Heap* MTL::Device::newHeap(const HeapDescriptor* descriptor) {
  auto* wanted = impl<Descriptor>(descriptor);
  if (impl<driver::Device>(this) == nullptr || wanted == nullptr) {
    return nullptr;
  }
  if (wanted->size == 0 || wanted->size > driver::device().recommended_working_set()) {
    pewter::logging::error("metal",
                           "newHeap: heap of {} bytes is empty or exceeds the working set of {}",
                           wanted->size, driver::device().recommended_working_set());
    return nullptr;
  }
  if (wanted->type == HeapTypeSparse || wanted->storage_mode > StorageModePrivate) {
    pewter::logging::error("metal", "newHeap: sparse and memoryless heaps are not supported");
    return nullptr;
  }
  auto memory = driver::DeviceMemory::allocate(driver::rounded(wanted->size));
  return memory ? handle(driver::make<Body>(*std::move(memory), *wanted)) : nullptr;
}

MTL::HeapDescriptor* MTL::HeapDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::HeapDescriptor* MTL::HeapDescriptor::init() {
  return this;
}

NS::UInteger MTL::HeapDescriptor::size() const {
  return get(this, &Descriptor::size);
}

void MTL::HeapDescriptor::setSize(NS::UInteger size) {
  driver::set(this, &Descriptor::size, size);
}

MTL::StorageMode MTL::HeapDescriptor::storageMode() const {
  return get(this, &Descriptor::storage_mode);
}

void MTL::HeapDescriptor::setStorageMode(MTL::StorageMode storageMode) {
  driver::set(this, &Descriptor::storage_mode, storageMode);
}

MTL::CPUCacheMode MTL::HeapDescriptor::cpuCacheMode() const {
  return get(this, &Descriptor::cpu_cache_mode);
}

void MTL::HeapDescriptor::setCpuCacheMode(MTL::CPUCacheMode cpuCacheMode) {
  driver::set(this, &Descriptor::cpu_cache_mode, cpuCacheMode);
}

MTL::SparsePageSize MTL::HeapDescriptor::sparsePageSize() const {
  return get(this, &Descriptor::sparse_page_size);
}

void MTL::HeapDescriptor::setSparsePageSize(MTL::SparsePageSize sparsePageSize) {
  driver::set(this, &Descriptor::sparse_page_size, sparsePageSize);
}

MTL::HazardTrackingMode MTL::HeapDescriptor::hazardTrackingMode() const {
  return get(this, &Descriptor::hazard_tracking_mode);
}

void MTL::HeapDescriptor::setHazardTrackingMode(MTL::HazardTrackingMode hazardTrackingMode) {
  driver::set(this, &Descriptor::hazard_tracking_mode, hazardTrackingMode);
}

MTL::ResourceOptions MTL::HeapDescriptor::resourceOptions() const {
  auto* self = impl<Descriptor>(this);
  return self != nullptr ? driver::options_of(*self) : ResourceOptions{0};
}

void MTL::HeapDescriptor::setResourceOptions(MTL::ResourceOptions resourceOptions) {
  setStorageMode(driver::storage_mode(resourceOptions));
  setCpuCacheMode(driver::cpu_cache_mode(resourceOptions));
  setHazardTrackingMode(driver::hazard_tracking_mode(resourceOptions));
}

MTL::HeapType MTL::HeapDescriptor::type() const {
  return get(this, &Descriptor::type);
}

void MTL::HeapDescriptor::setType(MTL::HeapType type) {
  driver::set(this, &Descriptor::type, type);
}

NS::String* MTL::Heap::label() const {
  return get(this, &Body::label);
}

void MTL::Heap::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}

MTL::Device* MTL::Heap::device() const {
  return driver::device_of(impl<Body>(this));
}

MTL::StorageMode MTL::Heap::storageMode() const {
  return driver::storage_mode(resourceOptions());
}

MTL::CPUCacheMode MTL::Heap::cpuCacheMode() const {
  return driver::cpu_cache_mode(resourceOptions());
}

MTL::HazardTrackingMode MTL::Heap::hazardTrackingMode() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return HazardTrackingModeDefault;
  }
  const bool tracked = driver::hazard_tracking_mode(self->options()) == HazardTrackingModeTracked;
  return tracked ? HazardTrackingModeTracked : HazardTrackingModeUntracked;
}

MTL::ResourceOptions MTL::Heap::resourceOptions() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->options() : ResourceOptions{0};
}

MTL::HeapType MTL::Heap::type() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->type() : HeapTypeAutomatic;
}

NS::UInteger MTL::Heap::size() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->size() : 0;
}

NS::UInteger MTL::Heap::usedSize() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->used() : 0;
}

NS::UInteger MTL::Heap::currentAllocatedSize() const {
  return allocatedSize();
}

NS::UInteger MTL::Heap::maxAvailableSize(NS::UInteger alignment) {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return 0;
  }
  if (!std::has_single_bit(std::max<NS::UInteger>(alignment, 1))) {
    pewter::logging::error("metal", "maxAvailableSize: alignment of {} is not a power of two",
                           alignment);
    return 0;
  }
  return self->largest(alignment);
}

MTL::Buffer* MTL::Heap::newBuffer(NS::UInteger length, MTL::ResourceOptions options) {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(self->new_buffer(length, options).leak()) : nullptr;
}

MTL::Buffer* MTL::Heap::newBuffer(NS::UInteger length,
                                  MTL::ResourceOptions options,
                                  NS::UInteger offset) {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(self->new_buffer(length, options, offset).leak()) : nullptr;
}

MTL::PurgeableState MTL::Heap::setPurgeableState(MTL::PurgeableState state) {
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
