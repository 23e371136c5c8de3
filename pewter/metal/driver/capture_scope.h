#pragma once

#include <Metal/MTLCaptureScope.hpp>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::CaptureScope.
class CaptureScope final : public Object {
 public:
  using Public = MTL::CaptureScope;
  static constexpr ClassInfo kClass{"MTL::CaptureScope", &Object::kClass};

  /// Of the whole device when `command_queue` is null.
  explicit CaptureScope(Object* command_queue) : Object(kClass), queue(command_queue) {}

  const Ref<Object> queue;
  Ref<String> label;
};

}  // namespace pewter::driver
