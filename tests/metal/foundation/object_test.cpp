#include "pewter/metal/foundation/object.h"

#include <doctest/doctest.h>

#include <Foundation/Foundation.hpp>
#include <thread>
#include <vector>

#include "tests/support/log_capture.h"

namespace pewter::foundation {
namespace {

using test::LogCapture;

/// Counts how many of its kind live.
class Probe final : public Object {
 public:
  using Public = NS::Object;
  static constexpr ClassInfo kClass{"Probe", &Object::kClass};

  explicit Probe(int& live) : Object(kClass), live_(live) { ++live_; }
  ~Probe() override { --live_; }

 private:
  int& live_;
};

/// A null pointer that the compiler does not see through.
template <class T>
T* null_object() {
  static T* volatile pointer = nullptr;
  return pointer;
}

TEST_CASE("an object ends with its last reference") {
  int live = 0;
  NS::Object* object = handle(make<Probe>(live));
  CHECK(object->retainCount() == 1);

  CHECK(object->retain() == object);
  CHECK(object->retainCount() == 2);
  object->release();
  CHECK(live == 1);

  object->release();
  CHECK(live == 0);
}

TEST_CASE("references are counted right from many threads") {
  int live = 0;
  NS::Object* object = handle(make<Probe>(live));

  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([object] {
      for (int round = 0; round < 10000; ++round) {
        object->retain();
        object->release();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  CHECK(object->retainCount() == 1);
  object->release();
  CHECK(live == 0);
}

TEST_CASE("a call on null does nothing and returns zero") {
  LogCapture log;

  auto* string = null_object<NS::String>();
  CHECK(string->length() == 0);
  CHECK(string->utf8String() == nullptr);
  CHECK(string->retain() == nullptr);
  CHECK(string->autorelease() == nullptr);
  CHECK(string->copy() == nullptr);
  CHECK(string->retainCount() == 0);
  CHECK(string->description() == nullptr);
  CHECK_FALSE(string->isEqual(string));
  string->release();
  CHECK(null_object<NS::Array>()->object(3) == nullptr);
  CHECK(null_object<NS::Dictionary>()->keyEnumerator()->nextObject() == nullptr);
  CHECK(null_object<NS::Error>()->localizedDescription()->utf8String() == nullptr);

  CHECK(log.lines().empty());
}

TEST_CASE("a second release of a dead object is logged and harmless") {
  LogCapture log;
  auto* string = NS::String::alloc()->init("gone", NS::UTF8StringEncoding);
  string->release();

  string->release();

  CHECK(log.contains("the NS::String at "));
  CHECK(log.contains("has already been deallocated"));
}

TEST_CASE("a call on a dead object is logged with the method and returns zero") {
  LogCapture log;
  auto* string = NS::String::alloc()->init("gone", NS::UTF8StringEncoding);
  string->release();

  CHECK(string->length() == 0);
  CHECK(string->retain() == nullptr);

  CHECK(log.contains("NS::String::length"));
}

TEST_CASE("an object of another class is refused by name") {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  LogCapture log;
  auto* string = NS::String::string("text", NS::UTF8StringEncoding);

  CHECK(reinterpret_cast<NS::Array*>(string)->count() == 0);

  CHECK(log.contains("is a NS::String, but a NS::Array is needed"));
}

TEST_CASE("memory that is no object is refused") {
  LogCapture log;
  alignas(16) static unsigned char bytes[64] = {};

  CHECK(reinterpret_cast<NS::String*>(bytes)->length() == 0);
  CHECK(reinterpret_cast<NS::String*>(bytes + 1)->length() == 0);

  CHECK(log.lines().size() == 2);
  CHECK(log.contains("is not an object, but a NS::String is needed"));
}

TEST_CASE("what cannot be copied says so") {
  LogCapture log;
  int live = 0;
  auto* probe = make<Probe>(live);

  CHECK(NS::Private::copy(handle(probe)) == nullptr);

  CHECK(log.contains("a Probe cannot be copied"));
  probe->release();
}

TEST_CASE("an immortal object ignores releases") {
  static int live = 0;
  static NS::Object* object = handle(make<Probe>(live));
  impl<Object>(object)->make_immortal();

  for (int round = 0; round < 3; ++round) {
    object->release();
  }

  CHECK(live == 1);
  CHECK(object->retainCount() == NS::UIntegerMax);
}

}  // namespace
}  // namespace pewter::foundation
