#include "pewter/metal/driver/callback_thread.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace pewter::driver::test
