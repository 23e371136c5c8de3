#pragma once

#include <Metal/MTLResidencySet.hpp>
#include <cstdint>
#include <map>
#include <mutex>

#include "pewter/metal/driver/resource.h"

namespace pewter::driver {

/// The body of MTL::ResidencySetDescriptor.
class ResidencySetDescriptor final : public Object {
 public:
  using Public = MTL::ResidencySetDescriptor;
  static constexpr ClassInfo kClass{"MTL::ResidencySetDescriptor", &Object::kClass};

  ResidencySetDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<ResidencySetDescriptor>(*this); }

  Ref<String> label;
  NS::UInteger initial_capacity = 0;
};

/// The body of MTL::ResidencySet. All memory is resident here, so it only keeps the books. Safe to
/// use from any thread.
class ResidencySet final : public Object {
 public:
  using Public = MTL::ResidencySet;
  static constexpr ClassInfo kClass{"MTL::ResidencySet", &Object::kClass};

  explicit ResidencySet(Ref<String> name) : Object(kClass), label(std::move(name)) {}

  const Ref<String> label;

  mutable std::mutex mutex;  // guards the members below
  /// By address, so that membership is quick; the sets hold references.
  std::map<const Allocation*, Ref<Allocation>> pending;
  std::map<const Allocation*, Ref<Allocation>> committed;
};

}  // namespace pewter::driver
