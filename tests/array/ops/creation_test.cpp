#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
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

TEST_CASE("the ends and the step of a range may be numbers of several types") {
  check_close(arange(0, 1, 0.25), {0, 0.25, 0.5, 0.75}, 0);
  check_close(arange(0.5, 3), {0.5, 1.5, 2.5}, 0);
  check_close(arange(0, 1.5F), {0, 1}, 0);
  CHECK(arange(0, 1, 0.1F).dtype() == Dtype::Float32);
  CHECK(arange(std::int64_t{2}, 9, 3).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{2, 5, 8});
  CHECK(arange(2U, 4).dtype() == Dtype::UInt32);
  CHECK(arange(std::int16_t{2}, std::int16_t{4}).dtype() == Dtype::Int32);
  CHECK(arange(0, 4.0, 2, Dtype::Int16).to_vector<std::int16_t>() ==
        std::vector<std::int16_t>{0, 2});
}

TEST_CASE("ranges of whole numbers go in the step between the first two, as NumPy has them") {
  CHECK(read(arange(0.0, 10.0, 2.5, Dtype::Int32)) == std::vector<double>{0, 2, 4, 6});
  CHECK(read(arange(0.5, 4.0, 1.0, Dtype::UInt8)) == std::vector<double>{0, 1, 2, 3});
  CHECK(read(arange(0x1p53, 0x1p53 + 4, 1.0, Dtype::Int64)) ==
        std::vector<double>{0x1p53, 0x1p53 + 1, 0x1p53 + 2, 0x1p53 + 3});
  CHECK(arange(1e19, 1.2e19, 1e18, Dtype::UInt64).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{10'000'000'000'000'000'000U, 11'000'000'000'000'000'000U});
}

TEST_CASE("numbers between two ends are the nearest to those of double") {
  const std::vector<std::pair<double, double>> ends = {
      {1, 0}, {0, 1}, {-50, 50}, {0.1, 0.1}, {1e-30, -3e30}, {16777217, 16777300}, {-3.7, 1e6}};
  for (const auto& [start, stop] : ends) {
    for (const int count : {0, 1, 2, 31, 32, 33, 1001, 1025}) {
      CAPTURE(start);
      CAPTURE(stop);
      CAPTURE(count);
      std::vector<float> expected;
      for (int i = 0; i < count; ++i) {
        const double step = count > 1 ? (stop - start) / (count - 1) : 0;
        const bool is_last = i > 0 && i == count - 1;
        expected.push_back(static_cast<float>(is_last ? stop : start + i * step));
      }

      CHECK(linspace(start, stop, count).to_vector<float>() == expected);
    }
  }
}

TEST_CASE("whole numbers between two ends are those below, as NumPy has them") {
  const std::vector<std::pair<double, double>> ends = {
      {10, 0}, {0, 10}, {100, 0}, {-7.5, 7.5}, {0, 2}, {-9e18, 9e18}, {0.5, -99.5}};
  for (const auto& [start, stop] : ends) {
    for (const int count : {1, 2, 11, 99, 101, 1009}) {
      CAPTURE(start);
      CAPTURE(stop);
      CAPTURE(count);
      std::vector<std::int64_t> expected;
      for (int i = 0; i < count; ++i) {
        const double step = count > 1 ? (stop - start) / (count - 1) : 0;
        const double number = i > 0 && i == count - 1 ? stop : start + i * step;
        expected.push_back(static_cast<std::int64_t>(std::floor(number)));
      }

      CHECK(linspace(start, stop, count, Dtype::Int64).to_vector<std::int64_t>() == expected);
    }
  }
  CHECK(read(linspace(10, 0, 11, Dtype::Int32)) ==
        std::vector<double>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(read(linspace(255, 0, 3, Dtype::UInt8)) == std::vector<double>{255, 127, 0});
  CHECK(linspace(0, 0x1p63, 2, Dtype::UInt64).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{0, 1ULL << 63});
}

TEST_CASE("numbers between ends that are not finite are refused") {
  CHECK_THROWS_WITH_AS(linspace(0, INFINITY),
                       "[linspace] from 0 to inf: both and their distance must be finite",
                       std::invalid_argument);
  CHECK_THROWS_AS(linspace(-1e308, 1e308), std::invalid_argument);
  CHECK(read(linspace(0, 1, 3, Dtype::Bool)) == std::vector<double>{0, 1, 1});
  CHECK(linspace(0, 1, 3, Dtype::Complex64).dtype() == Dtype::Complex64);
}
