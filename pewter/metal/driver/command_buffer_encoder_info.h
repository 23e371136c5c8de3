#pragma once

#include <Metal/MTLCommandBuffer.hpp>
#include <vector>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::CommandBufferEncoderInfo: how far an encoder of a failed command buffer came.
class CommandBufferEncoderInfo final : public Object {
 public:
  using Public = MTL::CommandBufferEncoderInfo;
  static constexpr ClassInfo kClass{"MTL::CommandBufferEncoderInfo", &Object::kClass};

  CommandBufferEncoderInfo() : Object(kClass) {}

  Ref<String> label;
  std::vector<Ref<String>> signposts;
  MTL::CommandEncoderErrorState state = MTL::CommandEncoderErrorStateUnknown;
};

}  // namespace pewter::driver
