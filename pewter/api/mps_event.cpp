#include <pewter/mps_event.h>

#include <utility>

#include "pewter/api/mps_device.h"
#include "pewter/runtime/stream.h"
#include "pewter/runtime/timed_event.h"

namespace pewter::mps {

Event::Event(bool enable_timing) {
  require_device("[mps::Event]");
  event_ = std::make_unique<runtime::TimedEvent>(enable_timing);
}

Event::~Event() = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(Event&& other) noexcept = default;

void Event::record() {
  require_device("[mps::Event]");
  event_->record(current_runtime_stream());
}

void Event::record(const Stream& stream) {
  require_device("[mps::Event]");
  event_->record(stream.runtime_stream());
}

void Event::wait() {
  require_device("[mps::Event]");
  event_->wait(*current_runtime_stream());
}

void Event::wait(const Stream& stream) {
  require_device("[mps::Event]");
  event_->wait(*stream.runtime_stream());
}

bool Event::query() const {
  require_device("[mps::Event]");
  return event_->query();
}

void Event::synchronize() const {
  require_device("[mps::Event]");
  event_->synchronize();
}

double Event::elapsed_time(const Event& end) const {
  require_device("[mps::Event]");
  return runtime::TimedEvent::elapsed_ms(*event_, *end.event_);
}

std::uint64_t Event::id() const {
  return event_->id();
}

}  // namespace pewter::mps
