#include "pewter/metal/driver/command_buffer_encoder_info.h"

#include "pewter/metal/foundation/collections.h"

namespace driver = pewter::driver;
using Body = driver::CommandBufferEncoderInfo;

NS::String* MTL::CommandBufferEncoderInfo::label() const {
  return driver::get(this, &Body::label);
}

NS::Array* MTL::CommandBufferEncoderInfo::debugSignposts() const {
  auto* self = driver::impl<Body>(this);
  return self != nullptr ? pewter::foundation::array_of(self->signposts) : nullptr;
}

MTL::CommandEncoderErrorState MTL::CommandBufferEncoderInfo::errorState() const {
  return driver::get(this, &Body::state);
}
