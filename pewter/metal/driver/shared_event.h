#pragma once

#include "pewter/metal/driver/callback_thread.h"
#include "pewter/metal/driver/event.h"

namespace pewter::driver {

/// The body of MTL::SharedEventListener: a thread that notification functions run on.
class SharedEventListener final : public Object {
 public:
  using Public = MTL::SharedEventListener;
  static constexpr ClassInfo kClass{"MTL::SharedEventListener", &Object::kClass};

  SharedEventListener() : Object(kClass) {}

  CallbackThread thread;
  dispatch_queue_t dispatch_queue = nullptr;
};

/// The body of MTL::SharedEvent: an event that the host can set, read and wait for.
class SharedEvent final : public Event {
 public:
  using Public = MTL::SharedEvent;
  static constexpr ClassInfo kClass{"MTL::SharedEvent", &Event::kClass};

  SharedEvent() : Event(kClass) {}

  /// Calls `function` on the listener's thread once the value has been reached.
  void notify(Ref<SharedEventListener> listener,
              std::uint64_t value,
              MTL::SharedEventNotificationFunction function);
};

/// The body of MTL::SharedEventHandle: another reference to the event, within this process.
class SharedEventHandle final : public Object {
 public:
  using Public = MTL::SharedEventHandle;
  static constexpr ClassInfo kClass{"MTL::SharedEventHandle", &Object::kClass};

  SharedEventHandle() : Object(kClass) {}

  Ref<SharedEvent> event;
};

}  // namespace pewter::driver
