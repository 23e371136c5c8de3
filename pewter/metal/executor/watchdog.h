#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace pewter::executor {

class Watchdog;
struct Execution;

/// The watchdog's knowledge of one thread. Lives as long as the thread may run kernels.
class WatchedThread {
 public:
  /// Watches the calling thread's deadline.
  explicit WatchedThread(Execution& execution);
  ~WatchedThread();
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;

  /// From here on the thread gets the stop signal, again and again, once `deadline_ns` has passed.
  /// 0 for no limit.
  void begin(std::uint64_t deadline_ns);
  void end();

 private:
  friend class Watchdog;

  Execution& execution_;
  const pthread_t thread_;
  Watchdog* watchdog_ = nullptr;

  // Guarded by the watchdog's mutex.
  WatchedThread* previous_ = nullptr;
  WatchedThread* next_ = nullptr;
};

}  // namespace pewter::executor
