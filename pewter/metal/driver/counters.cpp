#include "pewter/metal/driver/counters.h"

#include <fmt/format.h>
#include <Metal/MTLDevice.hpp>

#include "pewter/base/log.h"
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

namespace pewter::driver {
namespace {

constexpr NS::UInteger kMaxSamples = 4096;

/// The one set that the device has. Lives as long as the process.
CounterSet& timestamp_set() {
  static CounterSet& set = []() -> CounterSet& {
    auto counter = make_ref<Counter>();
    counter->name = Ref<String>(impl<String>(MTL::CommonCounterTimestamp));
    auto* made = make<CounterSet>();
    made->name = Ref<String>(impl<String>(MTL::CommonCounterSetTimestamp));
    made->counters = make_ref<foundation::Array>();
    made->counters->items.emplace_back(counter.get());
    return *made;
  }();
  return set;
}

}  // namespace
}  // namespace pewter::driver

NS::Array* MTL::Device::counterSets() const {
  return impl<driver::Device>(this) != nullptr ? NS::Array::array(handle(&driver::timestamp_set()))
                                               : nullptr;
}

bool MTL::Device::supportsCounterSampling(MTL::CounterSamplingPoint samplingPoint) {
  return impl<driver::Device>(this) != nullptr &&
         (samplingPoint == CounterSamplingPointAtStageBoundary ||
          samplingPoint == CounterSamplingPointAtDispatchBoundary ||
          samplingPoint == CounterSamplingPointAtBlitBoundary);
}

MTL::CounterSampleBuffer* MTL::Device::newCounterSampleBuffer(
    const CounterSampleBufferDescriptor* descriptor, NS::Error** error) {
  auto* given = impl<Descriptor>(descriptor);
  if (impl<driver::Device>(this) == nullptr || given == nullptr) {
    return nullptr;
  }
  std::string problem;
  if (given->counter_set.get() != &driver::timestamp_set()) {
    problem = "the device has no such counter set, only timestamps";
  } else if (given->sample_count < 1 || given->sample_count > driver::kMaxSamples) {
    problem = fmt::format("{} samples, where 1 to {} are possible", given->sample_count,
                          driver::kMaxSamples);
  }
  if (!problem.empty()) {
    driver::report(error, driver::counter_error(CounterSampleBufferErrorInvalid, problem));
    return nullptr;
  }
  driver::report(error, nullptr);
  return handle(driver::make<driver::CounterSampleBuffer>(*given));
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
  auto* self = impl<driver::CounterSampleBuffer>(this);
  return self != nullptr ? self->sample_count : 0;
}

NS::Data* MTL::CounterSampleBuffer::resolveCounterRange(NS::Range range) {
  auto* self = impl<driver::CounterSampleBuffer>(this);
  if (self == nullptr || range.location > self->sample_count ||
      range.length > self->sample_count - range.location) {
    pewter::logging::error("metal", "resolveCounterRange: samples {} to {} of {}", range.location,
                           range.location + range.length, self != nullptr ? self->sample_count : 0);
    return nullptr;
  }
  const auto* first = reinterpret_cast<const std::byte*>(self->samples.data() + range.location);
  return driver::autoreleased(driver::make_ref<pewter::foundation::Data>(
      std::vector<std::byte>(first, first + range.length * sizeof(std::uint64_t))));
}
