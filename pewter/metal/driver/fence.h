#pragma once

#include <Metal/MTLFence.hpp>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::Fence. The commands of a queue run one after another, so that there is never
/// anything left to wait for.
class Fence final : public Object {
 public:
  using Public = MTL::Fence;
  static constexpr ClassInfo kClass{"MTL::Fence", &Object::kClass};

  Fence() : Object(kClass) {}

  Ref<String> label;
};

}  // namespace pewter::driver
