#pragma once

#include <Metal/MTLCaptureManager.hpp>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/capture_scope.h"
#include "pewter/metal/foundation/url.h"

namespace pewter::driver {

/// The body of MTL::CaptureDescriptor.
class CaptureDescriptor final : public Object {
 public:
  using Public = MTL::CaptureDescriptor;
  static constexpr ClassInfo kClass{"MTL::CaptureDescriptor", &Object::kClass};

  CaptureDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<CaptureDescriptor>(*this); }

  Ref<Object> object;
  MTL::CaptureDestination destination = MTL::CaptureDestinationDeveloperTools;
  Ref<foundation::Url> output;
};

/// The body of MTL::CaptureManager. It cannot record yet, and says so.
class CaptureManager final : public Object {
 public:
  using Public = MTL::CaptureManager;
  static constexpr ClassInfo kClass{"MTL::CaptureManager", &Object::kClass};

  CaptureManager() : Object(kClass) {}

  Ref<CaptureScope> default_scope;
};

}  // namespace pewter::driver
