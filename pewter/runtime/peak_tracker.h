#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace pewter::runtime {

/// The largest value that a counter has had: since the last reset, and since any number of marks.
///
/// Noting a value that is no new maximum for anyone costs one comparison. Safe to use from any
/// thread.
class PeakTracker {
 public:
  /// A maximum of its own.
  struct Mark {
    std::size_t peak = 0;  // guarded by the tracker's mutex
  };

  void note(std::size_t value) {
    if (value > floor_.load(std::memory_order_relaxed)) {
      raise(value);
    }
  }

  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// Sets the peak to zero; marks keep theirs.
  void reset();

  /// Follows `mark`, which starts from `value`, until remove().
  void add(Mark& mark, std::size_t value);
  void remove(Mark& mark);
  std::size_t peak(const Mark& mark) const;

  /// Held while a process forks.
  std::mutex& mutex() { return mutex_; }

 private:
  void raise(std::size_t value);
  void lower_floor();

  // The smallest of all peaks: what a value must pass to matter.
  std::atomic<std::size_t> floor_ = 0;
  std::atomic<std::size_t> peak_ = 0;
  mutable std::mutex mutex_;  // guards the marks, and every change of the members above
  std::vector<Mark*> marks_;
};

}  // namespace pewter::runtime
