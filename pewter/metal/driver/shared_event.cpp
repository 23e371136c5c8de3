#include "pewter/metal/driver/shared_event.h"

#include <Metal/MTLDevice.hpp>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {
namespace {

/// A notification that has been asked for. Owns itself until it is delivered or dropped.
struct Notification : EventWaiter {
  SharedEvent* event = nullptr;
  Ref<SharedEventListener> listener;
  MTL::SharedEventNotificationFunction function;
};

void deliver(EventWaiter& waiter) {
  std::unique_ptr<Notification> notification(static_cast<Notification*>(&waiter));
  SharedEventListener& listener = *notification->listener;
  const std::uint64_t value = notification->value;
  // Whoever signals keeps the event alive until here.
  listener.thread.call(
      [event = Ref<SharedEvent>(notification->event), keep = std::move(notification->listener),
       function = std::move(notification->function), value] { function(handle(event), value); });
}

void drop(EventWaiter& waiter) {
  delete static_cast<Notification*>(&waiter);
}

}  // namespace

void SharedEvent::notify(Ref<SharedEventListener> listener,
                         std::uint64_t value,
                         MTL::SharedEventNotificationFunction function) {
  auto notification = std::make_unique<Notification>();
  notification->reached = &deliver;
  notification->dropped = &drop;
  notification->value = value;
  notification->event = this;
  notification->listener = std::move(listener);
  notification->function = std::move(function);
  Notification* waiter = notification.release();
  if (wait(*waiter, value)) {
    deliver(*waiter);
  }
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::SharedEvent;
using Listener = driver::SharedEventListener;
using driver::handle;
using driver::impl;

MTL::SharedEvent* MTL::Device::newSharedEvent() {
  return impl<driver::Device>(this) != nullptr ? handle(driver::make<Body>()) : nullptr;
}

MTL::SharedEvent* MTL::Device::newSharedEvent(const MTL::SharedEventHandle* sharedEventHandle) {
  auto* from = impl<driver::SharedEventHandle>(sharedEventHandle);
  if (impl<driver::Device>(this) == nullptr || from == nullptr || !from->event) {
    return nullptr;
  }
  return handle(driver::Ref<Body>(from->event).leak());
}

MTL::SharedEventListener* MTL::SharedEventListener::alloc() {
  return handle(driver::make<Listener>());
}

MTL::SharedEventListener* MTL::SharedEventListener::sharedListener() {
  static Listener* shared = [] {
    auto* listener = driver::make<Listener>();
    listener->make_immortal();
    return listener;
  }();
  return handle(shared);
}

MTL::SharedEventListener* MTL::SharedEventListener::init() {
  return this;
}

MTL::SharedEventListener* MTL::SharedEventListener::init(const dispatch_queue_t dispatchQueue) {
  driver::set(this, &Listener::dispatch_queue, dispatchQueue);
  return this;
}

dispatch_queue_t MTL::SharedEventListener::dispatchQueue() const {
  return driver::get(this, &Listener::dispatch_queue);
}

void MTL::SharedEvent::notifyListener(const MTL::SharedEventListener* listener,
                                      std::uint64_t value,
                                      const SharedEventNotificationFunction& function) {
  auto* self = impl<Body>(this);
  auto* target = impl<Listener>(listener);
  if (self == nullptr) {
    return;
  }
  if (target == nullptr || !function) {
    pewter::logging::error("validation", "notifyListener needs a listener and a function");
    return;
  }
  self->notify(driver::Ref<Listener>(target), value, function);
}

MTL::SharedEventHandle* MTL::SharedEvent::newSharedEventHandle() {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return nullptr;
  }
  auto made = driver::make_ref<driver::SharedEventHandle>();
  made->event = driver::Ref<Body>(self);
  return handle(made.leak());
}

bool MTL::SharedEvent::waitUntilSignaledValue(std::uint64_t value, std::uint64_t milliseconds) {
  auto* self = impl<Body>(this);
  return self != nullptr && self->wait_for(value, milliseconds);
}

std::uint64_t MTL::SharedEvent::signaledValue() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->value() : 0;
}

void MTL::SharedEvent::setSignaledValue(std::uint64_t signaledValue) {
  if (auto* self = impl<Body>(this)) {
    self->set(signaledValue);
  }
}

MTL::SharedEventHandle* MTL::SharedEventHandle::alloc() {
  return handle(driver::make<driver::SharedEventHandle>());
}

MTL::SharedEventHandle* MTL::SharedEventHandle::init() {
  return this;
}

NS::String* MTL::SharedEventHandle::label() const {
  auto* self = impl<driver::SharedEventHandle>(this);
  return self != nullptr && self->event ? handle(self->event->label) : nullptr;
}
