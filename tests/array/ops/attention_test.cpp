#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("attention takes floating-point types alone, and needs keys") {
  const auto attend = [](const array& x, const array& keys) {
    return fast::scaled_dot_product_attention(x, keys, keys, 1);
  };
  const Shape shape = {1, 1, 2, 4};
  for (const Dtype dtype : {Dtype::Int32, Dtype::Bool, Dtype::Complex64}) {
    const array x = zeros(shape, dtype);
    CAPTURE(name_of(dtype));
    CHECK_THROWS_AS(attend(x, x), std::invalid_argument);
  }
  CHECK_THROWS_WITH_AS(attend(zeros(shape, Dtype::Int32), zeros(shape, Dtype::Int32)),
                       "[scaled_dot_product_attention] elements of type int32; possible are "
                       "float16, bfloat16 and float32",
                       std::invalid_argument);
  CHECK_THROWS_AS(attend(zeros(shape), zeros({1, 1, 0, 4})), std::invalid_argument);
  CHECK(attend(zeros({1, 1, 0, 4}), zeros(shape)).shape() == Shape{1, 1, 0, 4});
}

TEST_CASE("attention says by its own name which mask does not fit") {
  const array x = zeros({1, 2, 3, 4});
  CHECK_THROWS_WITH_AS(
      fast::scaled_dot_product_attention(x, x, x, 1, "", ones({2, 3}, Dtype::Bool)),
      "[scaled_dot_product_attention] a mask of shape [2, 3] for scores of shape [1, 2, 3, 3]",
      std::invalid_argument);
}

TEST_CASE("rotary positions of complex numbers are refused when they are asked for") {
  CHECK_THROWS_WITH_AS(fast::rope(zeros({2, 4}, Dtype::Complex64), 4, false, 10000.0F, 1, 0),
                       "[rope] elements of type complex64", std::invalid_argument);
}

TEST_CASE("attention without anything to compare is the mean of the values") {
  const array none = zeros({1, 1, 2, 0});
  const array values = reshape(array({1.0F, 2.0F, 3.0F, 6.0F}), {1, 1, 2, 2});
  check_close(fast::scaled_dot_product_attention(none, none, values, 1), {2, 4, 2, 4}, 1);
}

TEST_CASE("a query that may look at no key gets the mean of the values, not NaN") {
  const array keys = reshape(array({1.0F, 2.0F}), {1, 1, 2, 1});
  const array values = reshape(array({2.0F, 4.0F}), {1, 1, 2, 1});
  for (const std::int64_t queries : {3, 40}) {
    CAPTURE(queries);
    const array x = ones({1, 1, queries, 1});
    const auto causal =
        read(fast::scaled_dot_product_attention(x, keys, values, 1, "causal").slice(0, 3, 2));
    const auto masked = read(fast::scaled_dot_product_attention(x, keys, values, 1, "",
                                                                zeros({queries, 2}, Dtype::Bool)));

    CHECK(causal.front() == doctest::Approx(3));
    CHECK(causal[1] == doctest::Approx(queries == 3 ? 2 : 3));
    CHECK(masked.front() == doctest::Approx(3));
    CHECK(masked.back() == doctest::Approx(3));
  }
}

TEST_CASE("a base of rotary positions that has no logarithm is refused") {
  for (const float base : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK_THROWS_AS(fast::rope(zeros({2, 4}), 4, false, base, 1, 0), std::invalid_argument);
  }
}
