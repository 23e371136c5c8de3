#include <doctest/doctest.h>

#include <Foundation/Foundation.hpp>
#include <utility>

namespace {

NS::String* make_string() {
  return NS::String::alloc()->init("shared", NS::UTF8StringEncoding);
}

TEST_CASE("TransferPtr takes a reference over and RetainPtr adds one") {
  auto owner = NS::TransferPtr(make_string());
  CHECK(owner->retainCount() == 1);

  auto second = NS::RetainPtr(owner.get());

  CHECK(owner->retainCount() == 2);
  CHECK(owner == second);
}

TEST_CASE("copies add references and moves do not") {
  auto first = NS::TransferPtr(make_string());

  auto copy = first;
  CHECK(first->retainCount() == 2);
  auto moved = std::move(copy);
  CHECK(first->retainCount() == 2);
  CHECK_FALSE(copy);

  copy = moved;
  CHECK(first->retainCount() == 3);
  copy = std::move(moved);
  CHECK(first->retainCount() == 2);
}

TEST_CASE("assignment to itself keeps the object") {
  auto pointer = NS::TransferPtr(make_string());
  auto& same = pointer;

  pointer = same;
  pointer = std::move(same);

  REQUIRE(pointer);
  CHECK(pointer->retainCount() == 1);
}

TEST_CASE("a pointer to a derived class converts to one to its base") {
  auto number = NS::TransferPtr(NS::Number::alloc()->init(7));

  NS::SharedPtr<NS::Value> value = number;
  NS::SharedPtr<NS::Object> object = std::move(value);

  CHECK(number->retainCount() == 2);
  CHECK(object.get() == number.get());
}

TEST_CASE("reset releases and detach does not") {
  auto pointer = NS::TransferPtr(make_string());
  NS::String* raw = pointer.get();
  raw->retain();

  pointer.reset();
  CHECK(raw->retainCount() == 1);

  pointer = NS::TransferPtr(raw);
  pointer.detach();
  CHECK(raw->retainCount() == 1);
  raw->release();
}

TEST_CASE("null pointers copy, move and compare") {
  NS::SharedPtr<NS::String> null;
  NS::SharedPtr<NS::String> other = nullptr;

  NS::SharedPtr<NS::String> copy = null;
  other = copy;
  null.reset();

  CHECK_FALSE(copy);
  CHECK(null == other);
}

}  // namespace
