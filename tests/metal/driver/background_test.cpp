#include "pewter/metal/driver/background.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "tests/support/sanitizer_limits.h"

namespace pewter::driver {
namespace {

void run_one() {
  std::atomic<bool> is_done = false;
  run_in_background([&] {
    is_done = true;
    is_done.notify_one();
  });
  is_done.wait(false);
}

const pid_t kTestProcess = getpid();
// Registered before all others, so that it comes last but for a sanitizer's, which would look for
// leaks in forked children and find what their parent's threads hold.
[[maybe_unused]] const int kRegistered = std::atexit([] {
  if (getpid() != kTestProcess) {
    _exit(0);
  }
});

}  // namespace

TEST_CASE("a child process has background threads of its own, and its exit waits for no others") {
  if (!test::can_start_threads_after_fork()) {
    return;
  }
  run_one();

  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    run_one();
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a child process ends that has used no background thread itself") {
  run_one();

  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace pewter::driver
