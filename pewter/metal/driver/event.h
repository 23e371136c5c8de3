#pragma once

#include <Metal/MTLEvent.hpp>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// Somebody who wants to know when an event reaches a value. Linked into the event.
struct EventWaiter {
  /// Called once, without the event's lock, on the thread that signals.
  void (*reached)(EventWaiter& waiter) = nullptr;
  /// Called instead when the event ends first; may be null for one that keeps the event alive.
  void (*dropped)(EventWaiter& waiter) = nullptr;

  std::uint64_t value = 0;
  EventWaiter* next = nullptr;
};

/// The body of MTL::Event: a counter that only grows, as far as command buffers see it. Safe to use
/// from any thread.
class Event : public Object {
 public:
  using Public = MTL::Event;
  static constexpr ClassInfo kClass{"MTL::Event", &Object::kClass};

  Event() : Event(kClass) {}
  ~Event() override;

  /// True when the value has been reached; otherwise `waiter` is told when it is.
  bool wait(EventWaiter& waiter, std::uint64_t value);

  /// Takes a waiter back. False when it has been told, or is just being told.
  bool cancel(EventWaiter& waiter);

  /// Raises the value; a lower one changes nothing.
  void signal(std::uint64_t value);

  /// Sets the value, which the host may also lower.
  void set(std::uint64_t value);

  /// Blocks until the value has been reached; false when `milliseconds` passed first.
  bool wait_for(std::uint64_t value, std::uint64_t milliseconds);

  std::uint64_t value() const { return value_.load(std::memory_order_acquire); }

  Ref<String> label;

 protected:
  explicit Event(const ClassInfo& class_info) : Object(class_info) {}

 private:
  /// Sets the value and tells those who waited for it.
  void change(std::unique_lock<std::mutex> lock, std::uint64_t value);

  std::mutex mutex_;  // guards the members below; the value may be read without it
  std::condition_variable changed_;
  std::atomic<std::uint64_t> value_ = 0;
  EventWaiter* waiters_ = nullptr;
};

}  // namespace pewter::driver
