#include "pewter/metal/driver/residency_set.h"

#include <Metal/MTLDevice.hpp>
#include <vector>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/foundation/collections.h"

namespace driver = pewter::driver;
using Body = driver::ResidencySet;
using Descriptor = driver::ResidencySetDescriptor;
using driver::get;
using driver::handle;
using driver::impl;
using driver::Ref;

MTL::ResidencySet* MTL::Device::newResidencySet(const ResidencySetDescriptor* desc,
                                                NS::Error** error) {
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  auto* wanted = impl<Descriptor>(desc);
  if (wanted == nullptr) {
    driver::report(
        error, driver::library_error(LibraryErrorInternal, "there is no residency set descriptor"));
    return nullptr;
  }
  driver::report(error, nullptr);
  return handle(driver::make<Body>(wanted->label));
}

MTL::ResidencySetDescriptor* MTL::ResidencySetDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::ResidencySetDescriptor* MTL::ResidencySetDescriptor::init() {
  return this;
}

NS::String* MTL::ResidencySetDescriptor::label() const {
  return get(this, &Descriptor::label);
}

void MTL::ResidencySetDescriptor::setLabel(const NS::String* label) {
  driver::set(this, &Descriptor::label, label);
}

NS::UInteger MTL::ResidencySetDescriptor::initialCapacity() const {
  return get(this, &Descriptor::initial_capacity);
}

void MTL::ResidencySetDescriptor::setInitialCapacity(NS::UInteger initialCapacity) {
  driver::set(this, &Descriptor::initial_capacity, initialCapacity);
}

MTL::Device* MTL::ResidencySet::device() const {
  return driver::device_of(impl<Body>(this));
}

NS::String* MTL::ResidencySet::label() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(self->label) : nullptr;
}

std::uint64_t MTL::ResidencySet::allocatedSize() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return 0;
  }
  std::scoped_lock lock(self->mutex);
  std::uint64_t bytes = 0;
  for (const auto& entry : self->committed) {
    bytes += entry.second->allocated_size();
  }
  return bytes;
}

// Memory of the software device is always resident.
void MTL::ResidencySet::requestResidency() {
  impl<Body>(this);
}

void MTL::ResidencySet::endResidency() {
  impl<Body>(this);
}

void MTL::ResidencySet::addAllocation(const Allocation* allocation) {
  addAllocations(&allocation, 1);
}

void MTL::ResidencySet::addAllocations(const Allocation* const allocations[], NS::UInteger count) {
  auto* self = impl<Body>(this);
  if (self == nullptr || allocations == nullptr) {
    return;
  }
  std::scoped_lock lock(self->mutex);
  for (NS::UInteger index = 0; index < count; ++index) {
    if (auto* allocation = impl<driver::Allocation>(allocations[index])) {
      self->pending.try_emplace(allocation, Ref<driver::Allocation>(allocation));
    }
  }
}

void MTL::ResidencySet::removeAllocation(const Allocation* allocation) {
  removeAllocations(&allocation, 1);
}

void MTL::ResidencySet::removeAllocations(const Allocation* const allocations[],
                                          NS::UInteger count) {
  auto* self = impl<Body>(this);
  if (self == nullptr || allocations == nullptr) {
    return;
  }
  std::scoped_lock lock(self->mutex);
  for (NS::UInteger index = 0; index < count; ++index) {
    self->pending.erase(impl<driver::Allocation>(allocations[index]));
  }
}

void MTL::ResidencySet::removeAllAllocations() {
  if (auto* self = impl<Body>(this)) {
    std::scoped_lock lock(self->mutex);
    self->pending.clear();
  }
}

bool MTL::ResidencySet::containsAllocation(const Allocation* anAllocation) {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return false;
  }
  std::scoped_lock lock(self->mutex);
  return self->pending.contains(impl<driver::Allocation>(anAllocation));
}

NS::Array* MTL::ResidencySet::allAllocations() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return nullptr;
  }
  std::scoped_lock lock(self->mutex);
  std::vector<Ref<driver::Allocation>> allocations;
  for (const auto& entry : self->pending) {
    allocations.push_back(entry.second);
  }
  return pewter::foundation::array_of(allocations);
}

NS::UInteger MTL::ResidencySet::allocationCount() const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return 0;
  }
  std::scoped_lock lock(self->mutex);
  return self->pending.size();
}

void MTL::ResidencySet::commit() {
  if (auto* self = impl<Body>(this)) {
    std::scoped_lock lock(self->mutex);
    self->committed = self->pending;
  }
}
