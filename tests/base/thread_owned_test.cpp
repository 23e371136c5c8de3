#include "pewter/base/thread_owned.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

namespace pewter {
namespace {

std::atomic<int> living = 0;

struct Counted {
  Counted() { ++living; }
  ~Counted() { --living; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  std::string text = "new";
};

TEST_CASE("each thread has an object of its own, which ends with it") {
  ThreadOwned<Counted>::get().text = "of the main thread";
  const int before = living.load();
  std::string found;

  std::thread([&] {
    found = ThreadOwned<Counted>::get().text;
    ThreadOwned<Counted>::get().text = "of another";
    found += ", " + ThreadOwned<Counted>::get().text;
    CHECK(living.load() == before + 1);
  }).join();

  CHECK(found == "new, of another");
  CHECK(living.load() == before);
  CHECK(ThreadOwned<Counted>::get().text == "of the main thread");
}

TEST_CASE("a thread's object is there for destructors of the thread's other objects") {
  static std::string found;
  struct Last {
    ~Last() { found = ThreadOwned<Counted>::get().text; }
  };
  const int before = living.load();

  std::thread([] {
    thread_local const Last last;
    static_cast<void>(&last);
    ThreadOwned<Counted>::get().text = "kept";
  }).join();

  CHECK(found == "kept");
  CHECK(living.load() == before);
}

struct NeedsAnother {
  ~NeedsAnother() {
    static std::atomic<int> rounds = 0;
    if (rounds++ == 0) {
      ThreadOwned<NeedsAnother>::get();
      ThreadOwned<Counted>::get();
    }
  }
};

TEST_CASE("what is made while a thread's objects end is ended too") {
  const int before = living.load();

  std::thread([] { ThreadOwned<NeedsAnother>::get(); }).join();

  CHECK(living.load() == before);
}

}  // namespace
}  // namespace pewter
