#include "pewter/metal/driver/event.h"

#include <Metal/MTLDevice.hpp>
#include <algorithm>
#include <chrono>

#include "pewter/base/spin.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {

Event::~Event() {
  while (waiters_ != nullptr) {
    EventWaiter* waiter = waiters_;
    waiters_ = waiter->next;
    if (waiter->dropped != nullptr) {
      waiter->dropped(*waiter);
    }
  }
}

bool Event::wait(EventWaiter& waiter, std::uint64_t value) {
  std::scoped_lock lock(mutex_);
  if (this->value() >= value) {
    return true;
  }
  waiter.value = value;
  waiter.next = waiters_;
  waiters_ = &waiter;
  return false;
}

bool Event::cancel(EventWaiter& waiter) {
  std::scoped_lock lock(mutex_);
  for (EventWaiter** place = &waiters_; *place != nullptr; place = &(*place)->next) {
    if (*place == &waiter) {
      *place = waiter.next;
      return true;
    }
  }
  return false;
}

void Event::signal(std::uint64_t value) {
  std::unique_lock lock(mutex_);
  if (value > this->value()) {
    change(std::move(lock), value);
  }
}

void Event::set(std::uint64_t value) {
  change(std::unique_lock(mutex_), value);
}

bool Event::wait_for(std::uint64_t value, std::uint64_t milliseconds) {
  // Longer than this overflows the clock, and nobody waits that long.
  constexpr std::uint64_t kMaxMilliseconds = std::uint64_t{1} << 40;
  const auto limit = std::chrono::milliseconds(std::min(milliseconds, kMaxMilliseconds));
  const auto is_reached = [&] { return this->value() >= value; };
  if (is_reached() || (milliseconds > 0 && spin_until(is_reached))) {
    return true;
  }
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, is_reached);
}

void Event::change(std::unique_lock<std::mutex> lock, std::uint64_t value) {
  value_.store(value, std::memory_order_release);
  EventWaiter* ready = nullptr;
  for (EventWaiter** place = &waiters_; *place != nullptr;) {
    EventWaiter* waiter = *place;
    if (waiter->value <= value) {
      *place = waiter->next;
      waiter->next = ready;
      ready = waiter;
    } else {
      place = &waiter->next;
    }
  }
  changed_.notify_all();
  lock.unlock();

  while (ready != nullptr) {
    // A waiter may be gone, or waiting again, as soon as it has been told.
    EventWaiter* next = ready->next;
    ready->reached(*ready);
    ready = next;
  }
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Event;

MTL::Event* MTL::Device::newEvent() {
  return driver::impl<driver::Device>(this) != nullptr ? driver::handle(driver::make<Body>())
                                                       : nullptr;
}

MTL::Device* MTL::Event::device() const {
  return driver::device_of(driver::impl<Body>(this));
}

NS::String* MTL::Event::label() const {
  return driver::get(this, &Body::label);
}

void MTL::Event::setLabel(const NS::String* label) {
  driver::set_copy(this, &Body::label, label);
}
