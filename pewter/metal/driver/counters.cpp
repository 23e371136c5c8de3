#include "pewter/metal/driver/counters.h"

#include <Metal/MTLDevice.hpp>

#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/foundation/data.h"

namespace driver = pewter::driver;
using Descriptor = driver::CounterSampleBufferDescriptor;
using driver::get;
using driver::handle;
using driver::impl;

namespace MTL {

CommonCounter const CommonCounterTimestamp = MTLSTR("MTLCommonCounterTimestamp");
CommonCounter const CommonCounterTessellationInputPatches =
    MTLSTR("MTLCommonCounterTessellationInputPatches");
CommonCounter const CommonCounterVertexInvocations = MTLSTR("MTLCommonCounterVertexInvocations");
CommonCounter const CommonCounterPostTessellationVertexInvocations =
    MTLSTR("MTLCommonCounterPostTessellationVertexInvocations");
CommonCounter const CommonCounterClipperInvocations = MTLSTR("MTLCommonCounterClipperInvocations");
CommonCounter const CommonCounterClipperPrimitivesOut =
    MTLSTR("MTLCommonCounterClipperPrimitivesOut");
CommonCounter const CommonCounterFragmentInvocations =
    MTLSTR("MTLCommonCounterFragmentInvocations");
CommonCounter const CommonCounterFragmentsPassed = MTLSTR("MTLCommonCounterFragmentsPassed");
CommonCounter const CommonCounterComputeKernelInvocations =
    MTLSTR("MTLCommonCounterComputeKernelInvocations");
CommonCounter const CommonCounterTotalCycles = MTLSTR("MTLCommonCounterTotalCycles");
CommonCounter const CommonCounterVertexCycles = MTLSTR("MTLCommonCounterVertexCycles");
CommonCounter const CommonCounterTessellationCycles = MTLSTR("MTLCommonCounterTessellationCycles");
CommonCounter const CommonCounterPostTessellationVertexCycles =
    MTLSTR("MTLCommonCounterPostTessellationVertexCycles");
CommonCounter const CommonCounterFragmentCycles = MTLSTR("MTLCommonCounterFragmentCycles");
CommonCounter const CommonCounterRenderTargetWriteCycles =
    MTLSTR("MTLCommonCounterRenderTargetWriteCycles");
CommonCounterSet const CommonCounterSetTimestamp = MTLSTR("MTLCommonCounterSetTimestamp");
CommonCounterSet const CommonCounterSetStageUtilization =
    MTLSTR("MTLCommonCounterSetStageUtilization");
CommonCounterSet const CommonCounterSetStatistic = MTLSTR("MTLCommonCounterSetStatistic");

}  // namespace MTL

NS::Array* MTL::Device::counterSets() const {
  return impl<driver::Device>(this) != nullptr ? NS::Array::array() : nullptr;
}

bool MTL::Device::supportsCounterSampling(MTL::CounterSamplingPoint) {
  return false;
}

MTL::CounterSampleBuffer* MTL::Device::newCounterSampleBuffer(const CounterSampleBufferDescriptor*,
                                                              NS::Error** error) {
  if (impl<driver::Device>(this) != nullptr) {
    driver::report(error, driver::counter_error(
                              CounterSampleBufferErrorInvalid,
                              "counter sampling is not supported: the device has no counter sets"));
  }
  return nullptr;
}

NS::String* MTL::Counter::name() const {
  return get(this, &driver::Counter::name);
}

NS::String* MTL::CounterSet::name() const {
  return get(this, &driver::CounterSet::name);
}

NS::Array* MTL::CounterSet::counters() const {
  return get(this, &driver::CounterSet::counters);
}

MTL::CounterSampleBufferDescriptor* MTL::CounterSampleBufferDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::CounterSampleBufferDescriptor* MTL::CounterSampleBufferDescriptor::init() {
  return this;
}

MTL::CounterSet* MTL::CounterSampleBufferDescriptor::counterSet() const {
  return get(this, &Descriptor::counter_set);
}

void MTL::CounterSampleBufferDescriptor::setCounterSet(const MTL::CounterSet* counterSet) {
  driver::set(this, &Descriptor::counter_set, counterSet);
}

NS::String* MTL::CounterSampleBufferDescriptor::label() const {
  return get(this, &Descriptor::label);
}

void MTL::CounterSampleBufferDescriptor::setLabel(const NS::String* label) {
  driver::set(this, &Descriptor::label, label);
}

MTL::StorageMode MTL::CounterSampleBufferDescriptor::storageMode() const {
  return get(this, &Descriptor::storage_mode);
}

void MTL::CounterSampleBufferDescriptor::setStorageMode(MTL::StorageMode storageMode) {
  driver::set(this, &Descriptor::storage_mode, storageMode);
}

NS::UInteger MTL::CounterSampleBufferDescriptor::sampleCount() const {
  return get(this, &Descriptor::sample_count);
}

void MTL::CounterSampleBufferDescriptor::setSampleCount(NS::UInteger sampleCount) {
  driver::set(this, &Descriptor::sample_count, sampleCount);
}

MTL::Device* MTL::CounterSampleBuffer::device() const {
  return driver::device_of(impl<driver::CounterSampleBuffer>(this));
}

NS::String* MTL::CounterSampleBuffer::label() const {
  return get(this, &driver::CounterSampleBuffer::label);
}

NS::UInteger MTL::CounterSampleBuffer::sampleCount() const {
  return get(this, &driver::CounterSampleBuffer::sample_count);
}

NS::Data* MTL::CounterSampleBuffer::resolveCounterRange(NS::Range) {
  return nullptr;
}
