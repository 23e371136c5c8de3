#pragma once

#include <Foundation/Foundation.hpp>
#include <functional>

#include "MTLDefines.hpp"

namespace MTL {

class Device;
class SharedEvent;

/// Orders command buffers of one device.
class _MTL_EXPORT Event : public NS::Referencing<Event> {
 public:
  Device* device() const;

  NS::String* label() const;
  void setLabel(const NS::String* label);
};

/// Calls notification functions on a thread of its own.
class _MTL_EXPORT SharedEventListener : public NS::Referencing<SharedEventListener> {
 public:
  static SharedEventListener* alloc();
  static SharedEventListener* sharedListener();

  SharedEventListener* init();
  /// `dispatchQueue` is kept but not used: there is no libdispatch.
  SharedEventListener* init(const dispatch_queue_t dispatchQueue);

  dispatch_queue_t dispatchQueue() const;
};

using SharedEventNotificationFunction =
    std::function<void(SharedEvent* pEvent, std::uint64_t value)>;

/// Carries a second reference to a shared event.
class _MTL_EXPORT SharedEventHandle : public NS::SecureCoding<SharedEventHandle> {
 public:
  static SharedEventHandle* alloc();
  SharedEventHandle* init();

  NS::String* label() const;
};

/// A counter that host and device can set and wait for.
class _MTL_EXPORT SharedEvent : public NS::Referencing<SharedEvent, Event> {
 public:
  /// Calls `function` once, when the value has reached `value`.
  void notifyListener(const SharedEventListener* listener,
                      std::uint64_t value,
                      const SharedEventNotificationFunction& function);

  SharedEventHandle* newSharedEventHandle();

  /// False when `milliseconds` passed first.
  bool waitUntilSignaledValue(std::uint64_t value, std::uint64_t milliseconds);

  std::uint64_t signaledValue() const;
  void setSignaledValue(std::uint64_t signaledValue);
};

}  // namespace MTL
