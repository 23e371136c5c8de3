#include "pewter/base/process_instance.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pewter {
namespace {

std::atomic<int> alive = 0;

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  int value = 0;
};

/// Whether `check` holds in a forked child.
template <typename Check>
bool holds_in_child(const Check& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("threads that ask at the same time get the same instance") {
  ProcessInstance<Counted> instance;
  std::vector<Counted*> found(4);
  std::vector<std::thread> threads;
  for (Counted*& place : found) {
    threads.emplace_back([&] { place = &instance.get(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  CHECK(found == std::vector<Counted*>(4, &instance.get()));
  CHECK(alive == 1);

  instance.destroy();
}

TEST_CASE("an instance is found once it is made, and until it is destroyed") {
  ProcessInstance<Counted> instance;
  CHECK(instance.find() == nullptr);

  Counted& made = instance.get();
  CHECK(instance.find() == &made);

  instance.destroy();
  CHECK(instance.find() == nullptr);
  CHECK(alive == 0);
}

TEST_CASE("a forked child has an instance of its own and leaves its parent's alone") {
  ProcessInstance<Counted> instance;
  instance.get().value = 7;

  CHECK(holds_in_child([&] { return instance.find() == nullptr && instance.get().value == 0; }));
  CHECK(holds_in_child([&] {
    instance.destroy();
    return alive == 1;
  }));
  CHECK(instance.get().value == 7);

  instance.destroy();
}

}  // namespace
}  // namespace pewter
