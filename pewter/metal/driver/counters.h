#pragma once

#include <Metal/MTLCounters.hpp>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::Counter. The device offers none.
class Counter final : public Object {
 public:
  using Public = MTL::Counter;
  static constexpr ClassInfo kClass{"MTL::Counter", &Object::kClass};

  Counter() : Object(kClass) {}

  Ref<String> name;
};

/// The body of MTL::CounterSet. The device offers none.
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

/// The body of MTL::CounterSampleBuffer. None can be made.
class CounterSampleBuffer final : public Object {
 public:
  using Public = MTL::CounterSampleBuffer;
  static constexpr ClassInfo kClass{"MTL::CounterSampleBuffer", &Object::kClass};

  CounterSampleBuffer() : Object(kClass) {}

  Ref<String> label;
  NS::UInteger sample_count = 0;
};

}  // namespace pewter::driver
