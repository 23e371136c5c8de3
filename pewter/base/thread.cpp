#include "pewter/base/thread.h"

#include <pthread.h>
#include <signal.h>

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

}  // namespace pewter
