#pragma once

#include <chrono>

namespace pewter::driver {

/// Something that must have happened by a certain time. Linked into the timer through its members.
struct Deadline {
  /// Called on the timer's thread; no other deadline expires and none can be removed meanwhile.
  void (*expired)(Deadline& deadline) = nullptr;

  std::chrono::steady_clock::time_point time;
  Deadline* previous = nullptr;
  Deadline* next = nullptr;
  bool is_pending = false;
};

/// Calls `deadline.expired` after `duration`, unless it is removed first.
void add_deadline(Deadline& deadline, std::chrono::milliseconds duration);

/// After this the deadline does not expire; when it is just expiring, waits for that. Not to be
/// called with a lock held that expired() takes.
void remove_deadline(Deadline& deadline);

}  // namespace pewter::driver
