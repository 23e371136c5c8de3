#include "pewter/metal/driver/fence.h"

#include <Metal/MTLDevice.hpp>

#include "pewter/metal/driver/device.h"

namespace driver = pewter::driver;
using Body = driver::Fence;

MTL::Fence* MTL::Device::newFence() {
  return driver::impl<driver::Device>(this) != nullptr ? driver::handle(driver::make<Body>())
                                                       : nullptr;
}

MTL::Device* MTL::Fence::device() const {
  return driver::device_of(driver::impl<Body>(this));
}

NS::String* MTL::Fence::label() const {
  return driver::get(this, &Body::label);
}

void MTL::Fence::setLabel(const NS::String* label) {
  driver::set_copy(this, &Body::label, label);
}
