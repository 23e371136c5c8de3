#include "pewter/metal/foundation/autorelease_pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Foundation/Foundation.hpp>
#include <cstdlib>
#include <thread>

#include "tests/support/log_capture.h"

namespace pewter::foundation {
namespace {

NS::AutoreleasePool* new_pool() {
  return NS::AutoreleasePool::alloc()->init();
}

/// A number with a second reference, so that its count can be read after a pool has let go.
NS::SharedPtr<NS::Number> autoreleased_number() {
  auto number = NS::TransferPtr(NS::Number::alloc()->init(1));
  number->retain()->autorelease();
  return number;
}

/// Ends a process that it was not made in, if it is released there.
class Witness final : public Object {
 public:
  static constexpr ClassInfo kClass{"Witness", &Object::kClass};

  Witness() : Object(kClass), process_(getpid()) {}
  ~Witness() override {
    if (getpid() != process_) {
      _exit(1);
    }
  }

 private:
  const pid_t process_;
};

TEST_CASE("a pool releases what was autoreleased after it was made") {
  auto* pool = new_pool();
  auto number = autoreleased_number();
  CHECK(number->retainCount() == 2);

  pool->drain();

  CHECK(number->retainCount() == 1);
}

TEST_CASE("releasing a pool drains it") {
  NS::SharedPtr<NS::Number> number;
  {
    auto pool = NS::TransferPtr(new_pool());
    number = autoreleased_number();
  }
  CHECK(number->retainCount() == 1);
}

TEST_CASE("the newest pool collects") {
  auto* outer = new_pool();
  auto first = autoreleased_number();
  auto* inner = new_pool();
  auto second = autoreleased_number();

  inner->drain();
  CHECK(first->retainCount() == 2);
  CHECK(second->retainCount() == 1);
  auto third = autoreleased_number();
  outer->drain();

  CHECK(first->retainCount() == 1);
  CHECK(third->retainCount() == 1);
}

TEST_CASE("draining a pool drains the pools made after it") {
  auto* outer = new_pool();
  auto* inner = new_pool();
  auto number = autoreleased_number();

  outer->drain();
  CHECK(number->retainCount() == 1);

  auto* later = new_pool();
  auto kept = autoreleased_number();
  inner->drain();
  CHECK(kept->retainCount() == 2);
  later->drain();
  CHECK(kept->retainCount() == 1);
}

TEST_CASE("objects autoreleased without a pool end with their thread") {
  NS::SharedPtr<NS::Number> number;

  std::thread([&number] {
    number = autoreleased_number();
    CHECK(number->retainCount() == 2);
  }).join();

  CHECK(number->retainCount() == 1);
}

TEST_CASE("a pool drained on another thread is reported and keeps its objects") {
  test::LogCapture log;
  auto* outer = new_pool();
  auto* pool = new_pool();
  auto number = autoreleased_number();

  std::thread([pool] { pool->drain(); }).join();

  CHECK(number->retainCount() == 2);
  CHECK(log.contains("drained on another thread"));
  outer->drain();
  CHECK(number->retainCount() == 1);
}

TEST_CASE("a scope of the driver's drains what was autoreleased in it") {
  NS::SharedPtr<NS::Number> number;
  {
    PoolScope scope;
    number = autoreleased_number();
  }
  CHECK(number->retainCount() == 1);
}

TEST_CASE("an object can be added to a pool by name") {
  auto* pool = new_pool();
  auto number = NS::TransferPtr(NS::Number::alloc()->init(1));

  pool->addObject(number->retain());
  pool->drain();

  CHECK(number->retainCount() == 1);
}

TEST_CASE("a child process that exits leaves alone what its parent had autoreleased") {
  auto pool = NS::TransferPtr(new_pool());
  autorelease(new Witness);

  const pid_t child = fork();
  if (child == 0) {
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace pewter::foundation
