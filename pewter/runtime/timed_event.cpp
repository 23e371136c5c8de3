#include "pewter/runtime/timed_event.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>

#include "pewter/runtime/device.h"

namespace pewter::runtime {
namespace {

/// The ids of the events that exist.
class Ids {
 public:
  static Ids& instance() {
    // Never destroyed: events may be destroyed after main.
    static auto* const instance = new Ids;
    return *instance;
  }

  std::uint64_t take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      return ++last_;
    }
    return free_.extract(free_.begin()).value();
  }

  void give_back(std::uint64_t id) {
    const std::scoped_lock lock(mutex_);
    free_.insert(id);
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::set<std::uint64_t> free_;
  std::uint64_t last_ = 0;
};

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// One place in a stream. Belongs to the event until it is recorded again, and to the task.
struct TimedEvent::Marker {
  std::shared_ptr<Stream> stream;
  std::uint64_t task = 0;
  std::atomic<bool> is_reached = false;
  /// Written before is_reached.
  double seconds = 0;
};

struct TimedEvent::State {
  mutable std::mutex mutex;  // guards the member below
  std::shared_ptr<Marker> marker;
};

TimedEvent::TimedEvent(bool enable_timing)
    : enable_timing_(enable_timing),
      id_(Ids::instance().take()),
      state_(std::make_unique<State>()) {}

TimedEvent::~TimedEvent() {
  // A thread that is not there any more may have held the lock when the process was forked.
  if (in_bad_fork()) {
    return;
  }
  Ids::instance().give_back(id_);
}

void TimedEvent::record(const std::shared_ptr<Stream>& stream) {
  auto marker = std::make_shared<Marker>();
  marker->stream = stream;
  {
    const auto guard = stream->exclusive();
    const auto command_buffer = NS::RetainPtr(stream->command_buffer());
    marker->task = stream->open_task();
    stream->on_completion([marker, command_buffer] {
      const double end = command_buffer->GPUEndTime();
      marker->seconds = end > 0 ? end : now_seconds();
      marker->is_reached.store(true, std::memory_order_release);
    });
    const std::scoped_lock lock(state_->mutex);
    state_->marker = marker;
  }
  stream->commit();
}

void TimedEvent::wait(Stream& stream) {
  if (const auto recorded = marker()) {
    stream.wait_for(*recorded->stream, recorded->task);
  }
}

bool TimedEvent::query() const {
  const auto recorded = marker();
  if (!recorded) {
    return false;
  }
  // The device may have passed the marker before the host has heard of it.
  return recorded->is_reached.load(std::memory_order_acquire) ||
         recorded->stream->completion_event()->signaledValue() >= recorded->task;
}

void TimedEvent::synchronize() const {
  if (const auto recorded = marker()) {
    recorded->stream->wait_on_host(recorded->task);
  }
}

bool TimedEvent::is_recorded() const {
  return marker() != nullptr;
}

std::shared_ptr<TimedEvent::Marker> TimedEvent::marker() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->marker;
}

double TimedEvent::elapsed_ms(const TimedEvent& start, const TimedEvent& end) {
  for (const TimedEvent* event : {&start, &end}) {
    if (!event->enable_timing_) {
      throw std::runtime_error(fmt::format(
          "[mps::Event] event {} was made without enable_timing, so it has no time", event->id_));
    }
  }
  const auto first = start.marker();
  const auto second = end.marker();
  if (!first || !second) {
    throw std::runtime_error(
        fmt::format("[mps::Event] event {} was never recorded", first ? end.id_ : start.id_));
  }

  first->stream->wait_on_host(first->task);
  second->stream->wait_on_host(second->task);
  const double seconds = second->seconds - first->seconds;
  if (seconds < 0) {
    throw std::runtime_error(fmt::format(
        "[mps::Event] event {} completed before event {}, by {:.6f} ms; call elapsed_time on the "
        "earlier one",
        end.id_, start.id_, -seconds * 1000));
  }
  return seconds * 1000;
}

}  // namespace pewter::runtime
