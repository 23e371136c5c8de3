#include "pewter/base/thread.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <cfenv>
#include <system_error>

#include "tests/support/log_capture.h"
#include "tests/support/no_threads.h"

namespace pewter {
namespace {

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

bool rounds_to_nearest() {
  volatile float one = 1;
  return one + 1e-9F == 1;
}

TEST_CASE("the program's signals are left to the program's threads") {
  bool is_blocked_there = false;

  start_thread("test", [&] { is_blocked_there = is_blocked(SIGINT); }).join();

  CHECK(is_blocked_there);
  CHECK_FALSE(is_blocked(SIGINT));
}

TEST_CASE("a thread that cannot be started leaves the signals of the one that wanted it") {
  {
    const test::NoThreads no_threads;
    CHECK_THROWS_AS(start_thread("test", [] {}), std::system_error);
  }

  CHECK_FALSE(is_blocked(SIGINT));
}

TEST_CASE("what follows from a thread that cannot be started is in the log") {
  const test::LogCapture log;
  const test::NoThreads no_threads;

  const bool is_started = start_detached_thread("test", [] {}, "nothing is tested");

  CHECK_FALSE(is_started);
  CHECK(log.contains("nothing is tested"));
}

TEST_CASE("a thread does not round as the one that starts it does") {
  bool is_nearest_there = false;

  std::fesetround(FE_UPWARD);
  start_thread("test", [&] { is_nearest_there = rounds_to_nearest(); }).join();
  const bool is_nearest_here = rounds_to_nearest();
  std::fesetround(FE_TONEAREST);

  CHECK(is_nearest_there);
  CHECK_FALSE(is_nearest_here);
}

}  // namespace
}  // namespace pewter
