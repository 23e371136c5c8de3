#include "pewter/metal/driver/deadline_timer.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "pewter/base/thread.h"

namespace pewter::driver {
namespace {

using Clock = std::chrono::steady_clock;

class DeadlineTimer {
 public:
  void add(Deadline& deadline) {
    std::scoped_lock lock(mutex_);
    deadline.is_pending = true;
    deadline.previous = nullptr;
    deadline.next = first_;
    if (first_ != nullptr) {
      first_->previous = &deadline;
    }
    first_ = &deadline;
    start();
    // The thread wakes up by itself at next_check_, so most deadlines, being later, need no call.
    if (deadline.time < next_check_) {
      changed_.notify_one();
    }
  }

  void remove(Deadline& deadline) {
    std::scoped_lock lock(mutex_);
    if (deadline.is_pending) {
      unlink(deadline);
    }
  }

 private:
  void start() {
    if (!is_started_) {
      is_started_ = start_detached_thread(
          "pewter-timer", [this] { run(); }, "waits for events have no limit of time");
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto now = Clock::now();
      next_check_ = Clock::time_point::max();
      for (Deadline* deadline = first_; deadline != nullptr;) {
        Deadline* next = deadline->next;
        if (deadline->time <= now) {
          unlink(*deadline);
          deadline->expired(*deadline);
        } else {
          next_check_ = std::min(next_check_, deadline->time);
        }
        deadline = next;
      }
      if (next_check_ == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, next_check_);
      }
    }
  }

  void unlink(Deadline& deadline) {
    deadline.is_pending = false;
    (deadline.previous != nullptr ? deadline.previous->next : first_) = deadline.next;
    if (deadline.next != nullptr) {
      deadline.next->previous = deadline.previous;
    }
  }

  std::mutex mutex_;  // guards the members below and the links of deadlines
  std::condition_variable changed_;
  Deadline* first_ = nullptr;
  Clock::time_point next_check_ = Clock::time_point::max();
  bool is_started_ = false;
};

// Never destroyed: its thread lives as long as the process.
DeadlineTimer& timer() {
  static auto* instance = new DeadlineTimer;
  return *instance;
}

}  // namespace

void add_deadline(Deadline& deadline, std::chrono::milliseconds duration) {
  deadline.time = Clock::now() + duration;
  timer().add(deadline);
}

void remove_deadline(Deadline& deadline) {
  timer().remove(deadline);
}

}  // namespace pewter::driver
