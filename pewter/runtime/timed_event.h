#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>
#include <memory>

#include "pewter/runtime/stream.h"

namespace pewter::runtime {

/// A marker in a stream that the host and other streams can wait for; what `mps::Event` holds.
///
/// Safe to use from any thread. Ids are positive; the smallest that is free is given to the next
/// event.
class TimedEvent {
 public:
  explicit TimedEvent(bool enable_timing);
  ~TimedEvent();
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;

  /// Places the marker after everything encoded on `stream`, and submits that.
  void record(const std::shared_ptr<Stream>& stream);
  /// Later work of `stream` starts after the marker; without a marker nothing happens.
  void wait(Stream& stream);
  /// False when there is no marker.
  bool query() const;
  /// Blocks until the marker is reached; returns at once when there is none.
  void synchronize() const;

  bool has_timing() const { return enable_timing_; }
  bool is_recorded() const;
  std::uint64_t id() const { return id_; }

  /// Milliseconds from `start`'s completion to `end`'s, waiting for both. Throws std::runtime_error
  /// when either has no timing or no marker, or `end` completed first.
  static double elapsed_ms(const TimedEvent& start, const TimedEvent& end);

 private:
  struct Marker;

  std::shared_ptr<Marker> marker() const;

  const bool enable_timing_;
  const std::uint64_t id_;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pewter::runtime
