#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("integers are rounded to tens and hundreds, ties to even") {
  using Ints = std::vector<std::int32_t>;
  const array x({15, 25, -15, -25, 14, -16, 0, 149, 150, 250});
  CHECK(round(x, -1).to_vector<std::int32_t>() ==
        Ints{20, 20, -20, -20, 10, -20, 0, 150, 150, 250});
  CHECK(round(x, -2).to_vector<std::int32_t>() == Ints{0, 0, 0, 0, 0, 0, 0, 100, 200, 200});
  CHECK(round(x, -10).to_vector<std::int32_t>() == Ints(10, 0));
  CHECK(round(x, 1).to_vector<std::int32_t>() == x.to_vector<std::int32_t>());
  CHECK(round(array(std::vector<std::uint8_t>{4, 5, 6, 244}), -1).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{0, 0, 10, 240});
  CHECK(round(array(std::vector<std::int64_t>{9007199254740993LL}), -1).item<std::int64_t>() ==
        9007199254740990LL);
}

TEST_CASE("logsumexp says by its own name what it does not take") {
  CHECK_THROWS_WITH_AS(logsumexp(array({std::complex<float>(1, 2)})),
                       "[logsumexp] elements of type complex64; possible are all others",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(logsumexp(zeros({2, 0}), 1),
                       "[logsumexp] no elements along axis 1 of the shape [2, 0]",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(logsumexp(zeros({2, 3}), Axes{0, 0}), "[logsumexp] an axis is given twice",
                       std::invalid_argument);
}
