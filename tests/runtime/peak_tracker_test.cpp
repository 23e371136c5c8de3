#include "pewter/runtime/peak_tracker.h"

#include <doctest/doctest.h>

using pewter::runtime::PeakTracker;

TEST_CASE("a peak is the largest value noted since the reset") {
  PeakTracker tracker;
  tracker.note(5);
  tracker.note(9);
  tracker.note(7);
  CHECK(tracker.peak() == 9);

  tracker.reset();
  CHECK(tracker.peak() == 0);
  tracker.note(7);
  CHECK(tracker.peak() == 7);
}

TEST_CASE("each mark has a peak of its own that resets do not touch") {
  PeakTracker tracker;
  tracker.note(100);
  PeakTracker::Mark outer;
  PeakTracker::Mark inner;
  tracker.add(outer, 10);
  tracker.note(30);
  tracker.add(inner, 20);
  tracker.note(25);
  tracker.reset();

  CHECK(tracker.peak(outer) == 30);
  CHECK(tracker.peak(inner) == 25);
  CHECK(tracker.peak() == 0);
  tracker.remove(inner);
  tracker.note(60);
  CHECK(tracker.peak(inner) == 25);
  CHECK(tracker.peak(outer) == 60);
  tracker.remove(outer);
}
