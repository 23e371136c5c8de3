#pragma once

#include <pewter/export.h>
#include <pewter/mps_stream.h>

#include <cstdint>
#include <memory>

namespace pewter::runtime {
class TimedEvent;
}  // namespace pewter::runtime

namespace pewter::mps {

/// A marker in the work of the device.
class PEWTER_EXPORT Event {
 public:
  /// Throws std::runtime_error without a device.
  explicit Event(bool enable_timing = false);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Places the marker after all work so far on the current stream, or the one given, and submits
  /// that work. Recording again moves the marker.
  void record();
  void record(const Stream& stream);
  /// Later work starts only after the marker; the host does not wait. Nothing when not recorded.
  void wait();
  void wait(const Stream& stream);
  /// Whether all work before the marker is complete; false when not recorded.
  bool query() const;
  /// Blocks the host until the marker is reached; returns at once when not recorded.
  void synchronize() const;

  /// Waits for both events and returns the milliseconds from this one's completion to `end`'s.
  /// Throws std::runtime_error when either was made without timing or was not recorded, or when
  /// `end` completed first.
  double elapsed_time(const Event& end) const;

  /// Positive; may be used again by another event when this one is gone.
  std::uint64_t id() const;

 private:
  std::unique_ptr<runtime::TimedEvent> event_;
};

}  // namespace pewter::mps
