#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <climits>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "pewter/array/graph/shape.h"
#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("a slice may step over the whole axis") {
  const array x = arange(5);
  CHECK(slice(x, {0}, {5}, {INT64_MAX}).to_vector<std::int32_t>() == std::vector<std::int32_t>{0});
  CHECK(slice(x, {4}, {-6}, {INT64_MIN}).to_vector<std::int32_t>() == std::vector<std::int32_t>{4});
  CHECK(x.slice(1, 5, 0, INT64_MAX).to_vector<std::int32_t>() == std::vector<std::int32_t>{1});
  CHECK(x.slice(-1, -100, 0, -2).to_vector<std::int32_t>() == std::vector<std::int32_t>{4, 2, 0});
  CHECK(x.slice(1, 3, 0, -1).size() == 0);
}

TEST_CASE("several axes are shifted at once, by any distance") {
  const array x({{1, 2, 3}, {4, 5, 6}});
  CHECK(roll(x, {1, -1}, {0, 1}).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{5, 6, 4, 2, 3, 1});
  CHECK(roll(x, {1, 1}, {1, 1}).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{2, 3, 1, 5, 6, 4});
  CHECK(roll(arange(3), INT64_MIN, 0).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{2, 0, 1});
  CHECK_THROWS_WITH_AS(roll(x, {1}, {0, 1}), "[roll] 1 shifts for 2 axes", std::invalid_argument);
}

TEST_CASE("padding counts its lengths beyond 32 bits") {
  const array x = zeros({2});
  std::string text;
  try {
    text = graph::to_text(pad(x, {{INT_MAX, INT_MAX}}).shape());
  } catch (const std::exception& error) {
    text = error.what();
  }
  CHECK(text.find("4294967296") != std::string::npos);
}

TEST_CASE("an update may have axes of length 1 in front of those of the array") {
  const array x = zeros({3});
  const array row = array({{1.0F, 2.0F, 3.0F}});

  CHECK(read(slice_update(x, row, {0}, {3})) == std::vector<double>{1, 2, 3});
  CHECK(read(slice_update(x, ones({1, 1, 1}), {1}, {3})) == std::vector<double>{0, 1, 1});
  CHECK(slice_update(array(5.0F), ones({1, 1}), {}, {}).item<float>() == 1);
  CHECK_THROWS_WITH_AS(slice_update(x, ones({2, 3}), {0}, {3}),
                       "[slice_update] an update of shape [2, 3] for a part of shape [3]",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(slice_update(x, ones({2}), {0}, {3}),
                       "[slice_update] an update of shape [2] for a part of shape [3]",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      slice_update(x, row, {0, 0}, {3, 3}),
      "[slice_update] start, stop and strides of lengths 2, 2 and 1 for the shape [3]",
      std::invalid_argument);
}

TEST_CASE("padding says by its own name which values it cannot spread") {
  CHECK_THROWS_WITH_AS(pad(array({1, 2}), {{1, 1}}, array({1, 2})),
                       "[pad] a value of shape [2] for the padded shape [4]",
                       std::invalid_argument);
  CHECK(read(pad(array({1, 2}), {{1, 1}}, array({3, 4, 5, 6}))) == std::vector<double>{3, 1, 2, 6});
}

TEST_CASE("edges that are not there cannot be repeated") {
  CHECK_THROWS_WITH_AS(pad(zeros({0}), {{1, 1}}, array(0), "edge"),
                       "[pad] mode 'edge' and no elements along axis 0 of the shape [0]",
                       std::invalid_argument);
  CHECK(pad(zeros({0, 2}), {{0, 0}, {1, 1}}, array(0), "edge").shape() == Shape{0, 4});
}

TEST_CASE("stack says by its own name which axis it lacks") {
  CHECK_THROWS_WITH_AS(stack({zeros({2}), zeros({2})}, 2), "[stack] axis 2 of an array of rank 2",
                       std::invalid_argument);
  CHECK(stack({zeros({2}), zeros({2}), zeros({2})}, -1).shape() == Shape{2, 3});
}

TEST_CASE("diagonals that are not there are empty, those that cannot be are refused") {
  const array x = ones({3, 4});
  CHECK(diagonal(x, INT_MIN).shape() == Shape{0});
  CHECK(diagonal(x, INT_MAX).shape() == Shape{0});
  CHECK(diag(x, INT_MIN).size() == 0);
  CHECK(diag(arange(0), -2).shape() == Shape{2, 2});
  CHECK_THROWS_WITH_AS(diag(arange(3), INT_MIN),
                       "[diag] 3 elements on diagonal -2147483648: the matrix would have "
                       "2147483651 rows, more than 2147483647",
                       std::invalid_argument);
  CHECK_THROWS_AS(diag(arange(3), INT_MAX), std::invalid_argument);
}

TEST_CASE(
    "axes that kernels cannot copy are refused when arrays are joined, not when they are read") {
  const array x = zeros(Shape(11, 2));
  const array turned = transpose(x, {10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5});
  CHECK_THROWS_WITH_AS(concatenate({turned, turned}, 5),
                       "[concatenate] the shape [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2] has more than 8 "
                       "axes that cannot be joined",
                       std::invalid_argument);
  CHECK_THROWS_AS(slice_update(x, turned, Shape(11, 0), Shape(11, 2)), std::invalid_argument);
  CHECK_THROWS_AS(slice_update(turned, array(1.0F), Shape(11, 0), Shape(11, 1)),
                  std::invalid_argument);

  const array wide = broadcast_to(array(true), {1LL << 32});
  CHECK_THROWS_WITH_AS(concatenate({wide, wide}, 0),
                       "[concatenate] 4294967296 elements side by side; kernels run over up to "
                       "4294966271, so do it in parts",
                       std::invalid_argument);
  const array deep = broadcast_to(array(true), {1LL << 16, 1LL << 17, 1LL << 17, 2, 3});
  CHECK_THROWS_WITH_AS(concatenate({deep, deep}, 3),
                       "[concatenate] 8589934592 elements side by side; kernels run over up to "
                       "4294966271, so do it in parts",
                       std::invalid_argument);
  CHECK(concatenate({x, x}, 3).shape()[3] == 4);
}
