#pragma once

#include <Metal/MTLCounters.hpp>
#include <cstdint>
#include <vector>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::Counter. The device has one, the time.
class Counter final : public Object {
 public:
  using Public = MTL::Counter;
  static constexpr ClassInfo kClass{"MTL::Counter", &Object::kClass};

  Counter() : Object(kClass) {}

  Ref<String> name;
};

/// The body of MTL::CounterSet. The device has one, of the time alone.
class CounterSet final : public Object {
 public:
  using Public = MTL::CounterSet;
  static constexpr ClassInfo kClass{"MTL::CounterSet", &Object::kClass};

  CounterSet() : Object(kClass) {}

  Ref<String> name;
  Ref<foundation::Array> counters;
};

/// The body of MTL::CounterSampleBufferDescriptor.
class CounterSampleBufferDescriptor final : public Object {
 public:
  using Public = MTL::CounterSampleBufferDescriptor;
  static constexpr ClassInfo kClass{"MTL::CounterSampleBufferDescriptor", &Object::kClass};

  CounterSampleBufferDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<CounterSampleBufferDescriptor>(*this); }

  Ref<CounterSet> counter_set;
  Ref<String> label;
  MTL::StorageMode storage_mode = MTL::StorageModeShared;
  NS::UInteger sample_count = 0;
};

/// The body of MTL::CounterSampleBuffer. Written by the thread that drives a queue.
class CounterSampleBuffer final : public Object {
 public:
  using Public = MTL::CounterSampleBuffer;
  static constexpr ClassInfo kClass{"MTL::CounterSampleBuffer", &Object::kClass};

  explicit CounterSampleBuffer(const CounterSampleBufferDescriptor& descriptor)
      : Object(kClass),
        label(descriptor.label),
        sample_count(descriptor.sample_count),
        samples(descriptor.sample_count, MTL::CounterErrorValue) {}

  Ref<String> label;
  const NS::UInteger sample_count;
  /// Nanoseconds of the clock that MTL::Device::sampleTimestamps counts in.
  std::vector<std::uint64_t> samples;
};

}  // namespace pewter::driver
