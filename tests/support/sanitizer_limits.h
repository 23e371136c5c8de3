#pragma once

#include <doctest/doctest.h>

#include "pewter/base/sanitizer.h"

namespace pewter::test {

/// Whether signals reach a running kernel, or the compiler; the thread sanitizer holds them back.
inline bool can_stop_kernels() {
#if PEWTER_THREAD_SANITIZER
  MESSAGE("skipped: the thread sanitizer holds signals back from running code");
  return false;
#else
  return true;
#endif
}

/// Whether a child process may have threads; the thread sanitizer ends it.
inline bool can_start_threads_after_fork() {
#if PEWTER_THREAD_SANITIZER
  MESSAGE("skipped: the thread sanitizer ends a forked process that starts threads");
  return false;
#else
  return true;
#endif
}

/// Whether the address space can be limited; sanitizers take terabytes of it.
inline bool can_limit_memory() {
#if PEWTER_THREAD_SANITIZER || PEWTER_ADDRESS_SANITIZER
  MESSAGE("skipped: sanitizers need more address space than the test would allow");
  return false;
#else
  return true;
#endif
}

/// Whether what the system says of the process's memory is the program's own doing; the thread
/// sanitizer keeps four bytes for each that is touched.
inline bool can_reconcile_memory() {
#if PEWTER_THREAD_SANITIZER
  MESSAGE("skipped: the thread sanitizer's own memory outweighs the program's");
  return false;
#else
  return true;
#endif
}

/// Whether memory that is freed soon has another object in it; the address sanitizer keeps it
/// aside.
inline bool can_see_memory_reused() {
#if PEWTER_ADDRESS_SANITIZER
  MESSAGE("skipped: the address sanitizer keeps freed memory from being used again");
  return false;
#else
  return true;
#endif
}

}  // namespace pewter::test
