#include "pewter/base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace pewter {

std::thread start_thread(const char* name, std::function<void()> body) {
  sigset_t blocked;
  sigset_t previous;
  sigfillset(&blocked);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
    sigdelset(&blocked, signal);
  }
  // A thread inherits the mask of the one that starts it.
  pthread_sigmask(SIG_SETMASK, &blocked, &previous);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
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
