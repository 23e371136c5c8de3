#include "pewter/metal/driver/callback_thread.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "pewter/base/spin.h"
#include "tests/support/log_capture.h"
#include "tests/support/no_threads.h"
#include "tests/support/sanitizer_limits.h"

namespace pewter::driver::test {
namespace {

/// Calls a function that sets a flag, and waits for it: all functions before it have run then.
void drain(CallbackThread& thread) {
  std::atomic<bool> done = false;
  thread.call([&] {
    done = true;
    done.notify_all();
  });
  done.wait(false);
}

TEST_CASE("functions are called one after another in their order") {
  CallbackThread thread;
  std::vector<int> calls;
  for (int i = 0; i < 1000; ++i) {
    thread.call([&calls, i] { calls.push_back(i); });
  }

  drain(thread);

  REQUIRE(calls.size() == 1000);
  for (int i = 0; i < 1000; ++i) {
    CHECK(calls[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("functions run on a thread that knows what it is") {
  CallbackThread thread;
  bool is_callback = false;
  thread.call([&] { is_callback = CallbackThread::is_current(); });

  drain(thread);

  CHECK(is_callback);
  CHECK(!CallbackThread::is_current());
}

TEST_CASE("when no thread can be started, functions are called by a thread that waits") {
  CallbackThread thread;
  const pewter::test::LogCapture log;
  std::atomic<std::uint32_t> pending = 1;

  {
    const pewter::test::NoThreads no_threads;
    thread.call([&] { pending = 0; });
    thread.help_until_zero(pending);
  }

  CHECK(log.contains("handlers are called by threads that wait"));
  drain(thread);
}

TEST_CASE("a child process calls functions on a thread of its own") {
  if (!pewter::test::can_start_threads_after_fork()) {
    return;
  }
  CallbackThread thread;
  drain(thread);

  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    drain(thread);
    // Nothing tells when the thread sleeps; by then it does.
    std::this_thread::sleep_for(10 * kSpinTime);
    drain(thread);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("functions that are waiting are called even if the owner goes") {
  std::atomic<int> calls = 0;
  {
    CallbackThread thread;
    for (int i = 0; i < 100; ++i) {
      thread.call([&] {
        ++calls;
        calls.notify_all();
      });
    }
  }

  for (int seen = calls; seen < 100; seen = calls) {
    calls.wait(seen);
  }
  CHECK(calls == 100);
}

TEST_CASE("a function may hold the last reference to the thread it runs on") {
  std::atomic<bool> done = false;
  auto thread = std::make_shared<CallbackThread>();
  CallbackThread& reference = *thread;
  struct Witness {
    std::atomic<bool>& flag;
    ~Witness() {
      flag = true;
      flag.notify_all();
    }
  };
  reference.call([witness = std::make_shared<Witness>(done), own = std::move(thread)] {});

  done.wait(false);

  CHECK(done);
}

TEST_CASE("a function that is left to a waiting thread is called there, after those before it") {
  CallbackThread thread;
  std::vector<int> calls;
  bool is_callback = false;
  std::thread::id caller;
  std::atomic<std::uint32_t> pending = 1;
  thread.call([&] { calls.push_back(1); }, CallbackThread::Caller::WaitingThread);
  thread.call(
      [&] {
        calls.push_back(2);
        is_callback = CallbackThread::is_current();
        caller = std::this_thread::get_id();
        pending = 0;
      },
      CallbackThread::Caller::WaitingThread);

  thread.help_until_zero(pending);

  CHECK(calls == std::vector<int>{1, 2});
  CHECK(is_callback);
  CHECK(caller == std::this_thread::get_id());
  CHECK(!CallbackThread::is_current());
}

TEST_CASE("what a waiting thread does not need is called by the thread") {
  CallbackThread thread;
  std::atomic<std::uint32_t> pending = 1;
  std::atomic<bool> is_called = false;
  thread.call([&] { pending = 0; }, CallbackThread::Caller::WaitingThread);
  thread.call(
      [&] {
        is_called = true;
        is_called.notify_all();
      },
      CallbackThread::Caller::WaitingThread);

  thread.help_until_zero(pending);
  is_called.wait(false);

  CHECK(is_called);
}

TEST_CASE("who helps waits for a function that the thread is inside, and for one that is to come") {
  for (int round = 0; round < 50; ++round) {
    CallbackThread thread;
    std::atomic<std::uint32_t> pending = 2;
    std::atomic<bool> is_inside = false;
    std::atomic<bool> may_leave = false;
    thread.call([&] {
      is_inside = true;
      is_inside.notify_all();
      may_leave.wait(false);
      --pending;
    });
    is_inside.wait(false);
    std::thread other([&] {
      // In half of the rounds the waiting thread has fallen asleep by then.
      std::this_thread::sleep_for(std::chrono::microseconds(round % 2 * 2000));
      may_leave = true;
      may_leave.notify_all();
      std::this_thread::sleep_for(std::chrono::microseconds(round % 3 * 1000));
      thread.call([&] { --pending; }, CallbackThread::Caller::WaitingThread);
    });

    thread.help_until_zero(pending);

    CHECK(pending == 0);
    other.join();
  }
}

}  // namespace
}  // namespace pewter::driver::test
