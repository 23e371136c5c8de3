#include "pewter/base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include "pewter/base/float_environment.h"
#include "pewter/base/log.h"

namespace pewter {
namespace {

/// Blocks the program's signals for the calling thread, and so for the threads that it starts.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
      sigdelset(&blocked, signal);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &previous_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t previous_;
};

}  // namespace

std::thread start_thread(const char* name, std::function<void()> body) {
  const SignalsBlocked signals_blocked;
  std::thread thread([body = std::move(body)] {
    // Inherited too, like the signals.
    const FloatEnvironment float_environment;
    body();
  });
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

bool start_detached_thread(const char* name,
                           std::function<void()> body,
                           const char* what_follows_without) {
  try {
    start_thread(name, std::move(body)).detach();
    return true;
  } catch (const std::system_error& error) {
    logging::warning("threads", "no thread can be started ({}); {}", error.what(),
                     what_follows_without);
    return false;
  }
}

std::uint32_t fork_generation() {
  static constinit std::atomic<std::uint32_t> generation = 0;
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

std::uint32_t current_core() {
#if defined(__linux__)
  return static_cast<std::uint32_t>(std::max(sched_getcpu(), 0));
#else
  return 0;
#endif
}

std::uint32_t core_count() {
  static const long count = std::max(sysconf(_SC_NPROCESSORS_CONF), 1L);
  return static_cast<std::uint32_t>(count);
}

}  // namespace pewter
