#include "pewter/metal/foundation/collections.h"

#include <doctest/doctest.h>

#include <Foundation/Foundation.hpp>

#include "tests/support/log_capture.h"
#include "tests/support/text.h"

namespace pewter::foundation {
namespace {

using test::string;
using test::text;

struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

TEST_CASE_FIXTURE(Pool, "an array retains its elements in order") {
  auto number = NS::TransferPtr(NS::Number::alloc()->init(3));
  const NS::Object* objects[] = {number.get(), MTLSTR("x")};

  auto array = NS::TransferPtr(NS::Array::alloc()->init(objects, 2));

  CHECK(array->count() == 2);
  CHECK(number->retainCount() == 2);
  CHECK(array->object<NS::Number>(0)->intValue() == 3);
  CHECK(array->object(1) == MTLSTR("x"));
  array.reset();
  CHECK(number->retainCount() == 1);
}

TEST_CASE_FIXTURE(Pool, "an index past the end gives null and a message") {
  test::LogCapture log;
  CHECK(NS::Array::array(MTLSTR("only"))->object(1) == nullptr);
  CHECK(log.contains("index 1 is past the end of 1 elements"));
}

TEST_CASE_FIXTURE(Pool, "null elements are left out and reported") {
  test::LogCapture log;
  const NS::Object* objects[] = {nullptr, MTLSTR("x")};
  CHECK(NS::Array::array(objects, 2)->count() == 1);
  CHECK(log.contains("element 0 is not an object"));
}

TEST_CASE_FIXTURE(Pool, "a dictionary finds values by equal keys") {
  const NS::Object* values[] = {MTLSTR("one"), MTLSTR("two")};
  const NS::Object* keys[] = {string("1"), NS::Number::number(2)};

  auto* dictionary = NS::Dictionary::dictionary(values, keys, 2);

  CHECK(dictionary->count() == 2);
  CHECK(text(dictionary->object<NS::String>(string("1"))) == "one");
  CHECK(text(dictionary->object<NS::String>(NS::Number::number(2.0))) == "two");
  CHECK(dictionary->object(string("2")) == nullptr);
}

TEST_CASE_FIXTURE(Pool, "keys are enumerated once each") {
  auto* dictionary = NS::Dictionary::dictionary(MTLSTR("value"), MTLSTR("key"));

  auto* keys = dictionary->keyEnumerator<NS::String>();

  CHECK(text(keys->nextObject()) == "key");
  CHECK(keys->nextObject() == nullptr);
  CHECK(dictionary->keyEnumerator()->allObjects()->count() == 1);
}

TEST_CASE_FIXTURE(Pool, "a set keeps one of equal objects") {
  const NS::Object* objects[] = {string("a"), string("a"), string("b")};

  auto set = NS::TransferPtr(NS::Set::alloc()->init(objects, 3));

  CHECK(set->count() == 2);
  CHECK(set->objectEnumerator()->allObjects()->count() == 2);
}

TEST_CASE_FIXTURE(Pool, "collections with equal content are equal") {
  CHECK(NS::Array::array(string("a"))->isEqual(NS::Array::array(string("a"))));
  CHECK_FALSE(NS::Array::array(string("a"))->isEqual(NS::Array::array()));
  CHECK(NS::Dictionary::dictionary(string("v"), string("k"))
            ->isEqual(NS::Dictionary::dictionary(string("v"), string("k"))));
}

TEST_CASE_FIXTURE(Pool, "numbers convert, compare and print") {
  CHECK(NS::Number::number(-1)->unsignedLongLongValue() == ~0ULL);
  CHECK(NS::Number::number(2.75)->intValue() == 2);
  CHECK(NS::Number::number(true)->boolValue());
  CHECK(NS::Number::number(~0ULL)->compare(NS::Number::number(-1)) == NS::OrderedDescending);
  CHECK(NS::Number::number(7)->isEqualToNumber(NS::Number::number(7.0f)));
  CHECK(text(NS::Number::number(0.1f)->stringValue()) == "0.1");
  CHECK(std::string(NS::Number::number(1.0f)->objCType()) == "f");
}

TEST_CASE_FIXTURE(Pool, "values keep bytes and pointers") {
  const float number = 1.5f;
  float back = 0;
  NS::Value::value(&number, "f")->getValue(&back, sizeof back);
  CHECK(back == 1.5f);

  CHECK(NS::Value::value(static_cast<const void*>(&number))->pointerValue() == &number);
  CHECK(NS::Value::value(&number, "{Point=ff}") == nullptr);
}

}  // namespace
}  // namespace pewter::foundation
