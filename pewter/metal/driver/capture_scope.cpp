#include "pewter/metal/driver/capture_scope.h"

#include "pewter/metal/driver/device.h"

namespace driver = pewter::driver;
using Body = driver::CaptureScope;
using driver::get;
using driver::impl;

MTL::Device* MTL::CaptureScope::device() const {
  return driver::device_of(impl<Body>(this));
}

NS::String* MTL::CaptureScope::label() const {
  return get(this, &Body::label);
}

void MTL::CaptureScope::setLabel(const NS::String* pLabel) {
  driver::set(this, &Body::label, pLabel);
}

MTL::CommandQueue* MTL::CaptureScope::commandQueue() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? reinterpret_cast<CommandQueue*>(driver::handle(self->queue)) : nullptr;
}

// Nothing records yet, so a scope has nothing to limit.
void MTL::CaptureScope::beginScope() {
  impl<Body>(this);
}

void MTL::CaptureScope::endScope() {
  impl<Body>(this);
}
