#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("products of matrices without elements have their shape, and sums of nothing are 0") {
  CHECK(matmul(zeros({2, 0, 3}), zeros({2, 3, 4})).shape() == Shape{2, 0, 4});
  CHECK(matmul(zeros({2, 3, 4}), zeros({2, 4, 0})).shape() == Shape{2, 3, 0});
  CHECK(matmul(zeros({0, 3, 4}), zeros({0, 4, 2})).shape() == Shape{0, 3, 2});
  CHECK(matmul(zeros({2, 0, 3}), zeros({3, 4})).to_vector<float>().empty());

  const array nothing = inner(zeros({2, 0}), zeros({3, 0}));
  CHECK(nothing.shape() == Shape{2, 3});
  CHECK(nothing.to_vector<float>() == std::vector<float>(6, 0));
  CHECK(inner(zeros({0, 2}), zeros({3, 2})).shape() == Shape{0, 3});
}

TEST_CASE("one matrix times a batch of none is a batch of none") {
  CHECK(matmul(zeros({3, 4}), zeros({0, 4, 5})).shape() == Shape{0, 3, 5});
  CHECK(matmul(zeros({1, 3, 4}), zeros({2, 0, 4, 5})).shape() == Shape{2, 0, 3, 5});
  const array across = transpose(zeros({0, 4, 3}), Axes{0, 2, 1});
  CHECK(matmul(across, zeros({1, 4, 5})).to_vector<float>().empty());
}
