#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <optional>
#include <stdexcept>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("softmax of one number is 1") {
  CHECK(softmax(array(2.0F)).item<float>() == 1);
  CHECK(softmax(array({2.0F, 3.0F}), Axes{}).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(softmax(zeros({0, 3}), -1).shape() == Shape{0, 3});
  CHECK(softmax(zeros({2, 2}), -1, true).to_vector<float>() == std::vector<float>(4, 0.5F));
}

TEST_CASE("softmax and norms say by their own names what they do not take") {
  const array x = zeros({2, 2});
  const array complex(std::vector<std::complex<float>>{{1, 2}, {3, 4}});
  CHECK_THROWS_WITH_AS(softmax(x, Axes{0, 0}), "[softmax] an axis is given twice",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(fast::rms_norm(x, complex, 1e-5F), "[rms_norm] weight of type complex64",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(fast::layer_norm(x, std::nullopt, complex, 1e-5F),
                       "[layer_norm] bias of type complex64", std::invalid_argument);
}
