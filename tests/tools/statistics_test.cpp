#include "tools/statistics.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/tools/tool.h"

namespace pewter::tools {
namespace {

using test::contains;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Statistics statistics_of(const std::vector<float>& numbers) {
  return statistics(Element::Float, std::as_bytes(std::span(numbers)));
}

TEST_CASE("range, mean and deviation are those of the numbers") {
  const Statistics found = statistics_of({2, 4, 4, 4, 5, 5, 7, 9});

  CHECK(found.count == 8);
  CHECK(found.minimum == 2);
  CHECK(found.maximum == 9);
  CHECK(found.mean == doctest::Approx(5));
  CHECK(found.standard_deviation == doctest::Approx(2));
}

TEST_CASE("a large offset does not spoil the deviation") {
  std::vector<std::int64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(1000000000000 + i % 2);
  }
  const Statistics found = statistics(Element::Long, std::as_bytes(std::span(numbers)));

  CHECK(found.standard_deviation == doctest::Approx(0.5));
}

TEST_CASE("NaN and infinities are counted apart") {
  const Statistics found = statistics_of({1, kNan, 3, kInfinity, -kInfinity, 0});

  CHECK(found.nan_count == 1);
  CHECK(found.infinite_count == 2);
  CHECK(found.zero_count == 1);
  CHECK(found.maximum == 3);
  CHECK(found.mean == doctest::Approx(4.0 / 3));
}

TEST_CASE("the histogram holds every finite number once, the greatest in the last bin") {
  std::vector<float> numbers;
  for (int i = 0; i <= 100; ++i) {
    numbers.push_back(static_cast<float>(i));
  }
  const Statistics found = statistics_of(numbers);

  REQUIRE(found.histogram.size() == 10);
  CHECK(found.histogram.front() == 10);
  CHECK(found.histogram.back() == 11);
}

TEST_CASE("equal numbers make one bin, and no numbers none") {
  CHECK(statistics_of({5, 5, 5}).histogram == std::vector<std::uint64_t>{3});
  CHECK(statistics_of({kNan}).histogram.empty());
}

TEST_CASE("the description shows name, shape, first numbers and bars") {
  const std::vector<float> numbers = {0, 0, 0, 1};
  const std::string text =
      describe("out", {Element::Float, 1}, {2, 2}, std::as_bytes(std::span(numbers)));

  CHECK(contains(text, "out: 2 x 2 x float\n"));
  CHECK(contains(text, "first  0 0 0 1\n"));
  CHECK(contains(text, "min 0  max 1  mean 0.25"));
  CHECK(contains(text, "########################################\n"));
}

}  // namespace
}  // namespace pewter::tools
