#include "pewter/metal/executor/watchdog.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "pewter/base/environment.h"
#include "pewter/base/process_instance.h"
#include "pewter/base/thread.h"
#include "pewter/metal/executor/fault.h"

namespace pewter::executor {
namespace {

constexpr std::uint64_t kDefaultTimeoutMs = 60'000;
constexpr std::chrono::milliseconds kMaxTick(250);
constexpr std::chrono::milliseconds kResendTick(2);
// The thread sleeps for good after this long without a grid, and the next grid wakes it.
constexpr int kIdleTicks = 8;

std::atomic<std::uint64_t>& timeout_setting() {
  static std::atomic<std::uint64_t> setting =
      environment::number("PEWTER_TIMEOUT_MS").value_or(kDefaultTimeoutMs);
  return setting;
}

std::chrono::milliseconds tick() {
  const auto eighth = std::chrono::milliseconds(timeout_ms() / 8);
  return std::clamp(eighth, std::chrono::milliseconds(1), kMaxTick);
}

}  // namespace

/// The thread that sends stop signals, and the threads that it watches.
class Watchdog {
 public:
  void add(WatchedThread& thread) {
    std::scoped_lock lock(mutex_);
    thread.next_ = first_;
    if (first_ != nullptr) {
      first_->previous_ = &thread;
    }
    first_ = &thread;
    thread.watchdog_ = this;
  }

  void remove(WatchedThread& thread) {
    std::scoped_lock lock(mutex_);
    (thread.previous_ != nullptr ? thread.previous_->next_ : first_) = thread.next_;
    if (thread.next_ != nullptr) {
      thread.next_->previous_ = thread.previous_;
    }
  }

  /// Called after a deadline has been set.
  void wake_if_parked() {
    if (!parked_.load()) {
      return;
    }
    std::scoped_lock lock(mutex_);
    if (!started_) {
      start();
    }
    // Stays so without a thread, for the next one to try again.
    parked_.store(!started_);
    changed_.notify_one();
  }

 private:
  void start() {
    started_ = start_detached_thread(
        "pewter-watchdog", [this] { watch(); }, "kernels have no limit of time");
  }

  void watch() {
    std::unique_lock lock(mutex_);
    for (int idle_ticks = 0;;) {
      bool is_busy = false;
      bool is_overdue = false;
      check(is_busy, is_overdue);
      idle_ticks = is_busy ? 0 : idle_ticks + 1;
      if (idle_ticks < kIdleTicks) {
        changed_.wait_for(lock, is_overdue ? kResendTick : tick());
        continue;
      }
      // A thread sets its deadline before it reads parked_, and this one the other way round, so
      // one of them sees.
      parked_.store(true);
      check(is_busy, is_overdue);
      if (is_busy) {
        parked_.store(false);
      } else {
        changed_.wait(lock, [this] { return !parked_.load(); });
      }
      idle_ticks = 0;
    }
  }

  void check(bool& is_busy, bool& is_overdue) {
    const std::uint64_t now = now_ns();
    for (WatchedThread* thread = first_; thread != nullptr; thread = thread->next_) {
      const std::uint64_t deadline = thread->execution_.deadline_ns.load();
      is_busy = is_busy || deadline != 0;
      if (deadline != 0 && now >= deadline) {
        if (!is_overdue) {
          install_fault_handlers();
        }
        is_overdue = true;
        pthread_kill(thread->thread_, stop_signal());
      }
    }
  }

  // True also before the thread exists, so that the first grid starts it.
  std::atomic<bool> parked_ = true;

  std::mutex mutex_;  // guards the members below and the links of watched threads
  std::condition_variable changed_;
  WatchedThread* first_ = nullptr;
  bool started_ = false;
};

namespace {

constinit ProcessInstance<Watchdog> process_watchdog;

}  // namespace

WatchedThread::WatchedThread(Execution& execution)
    : execution_(execution), thread_(pthread_self()) {}

WatchedThread::~WatchedThread() {
  if (watchdog_ == &process_watchdog.get()) {
    watchdog_->remove(*this);
  }
}

void WatchedThread::begin(std::uint64_t deadline_ns) {
  if (deadline_ns == 0) {
    return;
  }
  // A thread that has been forked is known to its parent's watchdog only.
  Watchdog& watchdog = process_watchdog.get();
  if (watchdog_ != &watchdog) {
    previous_ = next_ = nullptr;
    watchdog.add(*this);
  }
  execution_.deadline_ns.store(deadline_ns);
  watchdog.wake_if_parked();
}

void WatchedThread::end() {
  execution_.deadline_ns.store(0, std::memory_order_release);
}

std::uint64_t timeout_ms() {
  return timeout_setting().load(std::memory_order_relaxed);
}

void set_timeout_ms(std::uint64_t milliseconds) {
  timeout_setting().store(milliseconds, std::memory_order_relaxed);
}

}  // namespace pewter::executor
