#include "pewter/base/result.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace pewter {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) {
    return failure(std::to_string(number) + " is odd");
  }
  return number / 2;
}

TEST_CASE("a result with a value gives the value") {
  const auto result = half(8);

  REQUIRE(result.ok());
  CHECK(static_cast<bool>(result));
  CHECK(*result == 4);
  CHECK(result.value() == 4);
}

TEST_CASE("a result without a value gives the reason") {
  const auto result = half(7);

  REQUIRE(!result.ok());
  CHECK(result.error().message == "7 is odd");
}

TEST_CASE("a value that can only be moved can be moved out") {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);

  const std::unique_ptr<int> taken = std::move(result).value();

  CHECK(*taken == 5);
}

TEST_CASE("members of a value are reached through the arrow") {
  Result<std::string> result = std::string("abc");

  CHECK(result->size() == 3);
  result->push_back('d');
  CHECK(*result == "abcd");
}

TEST_CASE("a layer may have an error type of its own") {
  struct Reason {
    int code;
  };
  const Result<int, Reason> good = 3;
  const Result<int, Reason> bad = Reason{3};

  CHECK(good.ok());
  CHECK(!bad.ok());
  CHECK(bad.error().code == 3);
}

TEST_CASE("success without a value is the default") {
  const Result<void> good;
  const Result<void> bad = failure("disk is full");

  CHECK(good.ok());
  REQUIRE(!bad.ok());
  CHECK(bad.error().message == "disk is full");
}

}  // namespace
}  // namespace pewter
