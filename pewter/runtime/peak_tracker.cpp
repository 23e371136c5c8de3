#include "pewter/runtime/peak_tracker.h"

#include <algorithm>

namespace pewter::runtime {

void PeakTracker::reset() {
  const std::scoped_lock lock(mutex_);
  peak_.store(0, std::memory_order_relaxed);
  floor_.store(0, std::memory_order_relaxed);
}

void PeakTracker::add(Mark& mark, std::size_t value) {
  const std::scoped_lock lock(mutex_);
  mark.peak = value;
  marks_.push_back(&mark);
  lower_floor();
}

void PeakTracker::remove(Mark& mark) {
  const std::scoped_lock lock(mutex_);
  std::erase(marks_, &mark);
  lower_floor();
}

std::size_t PeakTracker::peak(const Mark& mark) const {
  const std::scoped_lock lock(mutex_);
  return mark.peak;
}

void PeakTracker::raise(std::size_t value) {
  const std::scoped_lock lock(mutex_);
  peak_.store(std::max(peak_.load(std::memory_order_relaxed), value), std::memory_order_relaxed);
  for (Mark* mark : marks_) {
    mark->peak = std::max(mark->peak, value);
  }
  lower_floor();
}

void PeakTracker::lower_floor() {
  std::size_t floor = peak_.load(std::memory_order_relaxed);
  for (const Mark* mark : marks_) {
    floor = std::min(floor, mark->peak);
  }
  floor_.store(floor, std::memory_order_relaxed);
}

}  // namespace pewter::runtime
