#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <climits>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("a negative number of rows or columns is refused") {
  CHECK_THROWS_WITH_AS(eye(-3), "[eye] -3 rows and -3 columns; at least 0 are possible",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(eye(2, -1), "[eye] 2 rows and -1 columns; at least 0 are possible",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(tri(-2, 3), "[tri] -2 rows and 3 columns; at least 0 are possible",
                       std::invalid_argument);
  CHECK(eye(0).shape() == Shape{0, 0});
}

TEST_CASE("diagonals far outside a matrix leave all of it, or nothing") {
  const std::vector<double> all(6, 1);
  const std::vector<double> none(6, 0);
  const array x = ones({2, 3});
  for (const int far : {3, 100, INT_MAX - 1, INT_MAX}) {
    CAPTURE(far);
    CHECK(read(tri(2, 3, far)) == all);
    CHECK(read(tri(2, 3, -far)) == none);
    CHECK(read(tril(x, far)) == all);
    CHECK(read(triu(x, -far)) == all);
    CHECK(read(triu(x, far)) == none);
    CHECK(read(eye(2, 3, far)) == none);
    CHECK(read(eye(2, 3, -far)) == none);
  }
  CHECK(read(triu(x, INT_MIN)) == all);
  CHECK(read(tril(x, INT_MIN)) == none);
  CHECK(read(eye(2, 3, INT_MIN)) == none);
}

TEST_CASE("a range up to a fraction keeps it") {
  CHECK(read(arange(2.5)) == std::vector<double>{0, 1, 2});
  CHECK(arange(2.5F).dtype() == Dtype::Float32);
  CHECK(arange(3).dtype() == Dtype::Int32);
}

TEST_CASE("ranges of whole numbers go in the step between the first two, as NumPy has them") {
  CHECK(read(arange(0.0, 10.0, 2.5, Dtype::Int32)) == std::vector<double>{0, 2, 4, 6});
  CHECK(read(arange(0.5, 4.0, 1.0, Dtype::UInt8)) == std::vector<double>{0, 1, 2, 3});
  CHECK(read(arange(0x1p53, 0x1p53 + 4, 1.0, Dtype::Int64)) ==
        std::vector<double>{0x1p53, 0x1p53 + 1, 0x1p53 + 2, 0x1p53 + 3});
  CHECK(arange(1e19, 1.2e19, 1e18, Dtype::UInt64).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{10'000'000'000'000'000'000U, 11'000'000'000'000'000'000U});
}
