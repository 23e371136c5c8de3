#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

using Reduce = array (*)(const array&, const Axes&, bool, StreamOrDevice);

struct ReductionRow {
  const char* name;
  Reduce function;
  double start;
  double (*combine)(double, double);
};

const ReductionRow kReductions[] = {
    {"sum", sum, 0, [](double a, double b) { return a + b; }},
    {"prod", prod, 1, [](double a, double b) { return a * b; }},
    {"min", min, INFINITY, [](double a, double b) { return std::min(a, b); }},
    {"max", max, -INFINITY, [](double a, double b) { return std::max(a, b); }},
    {"all", all, 1, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"any", any, 0, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
};

/// A plain loop over (outer, length, inner).
std::vector<double> reduced(const ReductionRow& row,
                            const std::vector<double>& values,
                            std::size_t outer,
                            std::size_t length,
                            std::size_t inner) {
  std::vector<double> results;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      double total = row.start;
      for (std::size_t k = 0; k < length; ++k) {
        total = row.combine(total, values[(o * length + k) * inner + i]);
      }
      results.push_back(total);
    }
  }
  return results;
}

void check_reduction(const ReductionRow& row,
                     Dtype dtype,
                     std::size_t outer,
                     std::size_t length,
                     std::size_t inner) {
  CAPTURE(row.name);
  CAPTURE(length);
  // Products of numbers around 1 stay in range.
  const bool is_product = std::string(row.name) == "prod";
  const double low = is_product ? (dtype < Dtype::Float16 ? 1 : 0.98) : is_unsigned(dtype) ? 0 : -4;
  const double high = is_product ? (dtype < Dtype::Float16 ? 2 : 1.02) : 4;
  const std::vector<double> values = numbers(outer * length * inner, low, high, dtype);
  const Shape shape = {static_cast<std::int64_t>(outer), static_cast<std::int64_t>(length),
                       static_cast<std::int64_t>(inner)};
  const array result = row.function(make_array(values, shape, dtype), {1}, false, {});
  CHECK(result.shape() == Shape{shape[0], shape[2]});
  const double count = static_cast<double>(length);
  const double unit = dtype < Dtype::Float16 ? 0 : 0x1p-23 * count * 4;
  check_close(result, reduced(row, values, outer, length, inner), is_product ? count * 4 + 4 : 1,
              unit);
}

}  // namespace

TEST_CASE("reductions of rows agree with a loop in double") {
  for (const ReductionRow& row : kReductions) {
    for (const std::size_t length : {1, 31, 32, 33, 1025, 1009}) {
      check_reduction(row, Dtype::Float32, 3, length, 1);
    }
  }
}

TEST_CASE("reductions of columns agree with a loop in double") {
  for (const ReductionRow& row : kReductions) {
    for (const std::size_t inner : {2, 31, 32, 33, 1025}) {
      check_reduction(row, Dtype::Float32, 2, 37, inner);
    }
  }
}

TEST_CASE("long reductions with few results agree with a loop in double") {
  for (const char* name : {"sum", "max"}) {
    const auto* row =
        std::find_if(std::begin(kReductions), std::end(kReductions),
                     [&](const auto& each) { return std::string(each.name) == name; });
    check_reduction(*row, Dtype::Float32, 1, 100003, 1);
    check_reduction(*row, Dtype::Float32, 2, 50021, 3);
  }
}

TEST_CASE("sums take every type, and small integers are added up in 32 bits") {
  for (const Dtype dtype : all_dtypes()) {
    check_reduction(kReductions[0], dtype, 2, 100, 1);
  }
  CHECK(sum(ones({300}, Dtype::UInt8)).item<std::uint32_t>() == 300);
  CHECK(sum(full({70000}, array(true))).item<std::int32_t>() == 70000);
  CHECK(max(array(std::vector<std::int64_t>{-5, INT64_MIN, 7})).item<std::int64_t>() == 7);
  CHECK(sum(full({4096}, array(1.0F, Dtype::Float16))).to_vector<Float16>()[0] == Float16(4096.0F));
  const array z(std::vector<std::complex<float>>{{1, 2}, {3, -4}});
  CHECK(sum(z).item<std::complex<float>>() == std::complex<float>(4, -2));
}

TEST_CASE("the least and the greatest of truths") {
  std::vector<bool> values(40, true);
  values[7] = false;
  const array x =
      astype(array(std::vector<std::uint8_t>(values.begin(), values.end())), Dtype::Bool);
  CHECK(!min(x).item<bool>());
  CHECK(max(x).item<bool>());
  CHECK(min(slice(x, {8}, {40})).item<bool>());
  CHECK(!max(zeros({40}, Dtype::Bool)).item<bool>());
}

TEST_CASE("extremes of what has NaN are NaN") {
  const array x(std::vector<float>{1, NAN, 3});
  CHECK(std::isnan(max(x).item<float>()));
  CHECK(std::isnan(min(x).item<float>()));
  CHECK(argmax(x).item<std::uint32_t>() == 1);
}

TEST_CASE("reductions of nothing give what changes nothing, or are refused") {
  const array none = zeros({0, 3});
  CHECK(sum(none, 0).to_vector<float>() == std::vector<float>{0, 0, 0});
  CHECK(prod(none).item<float>() == 1);
  CHECK(all(none).item<bool>());
  CHECK(!any(none).item<bool>());
  CHECK(sum(none, 1).size() == 0);
  CHECK_THROWS_AS(max(none), std::invalid_argument);
  CHECK_THROWS_AS(argmin(none, 0), std::invalid_argument);
  CHECK_THROWS_WITH_AS(sum(none, 2), "[sum] axis 2 of an array of rank 2", std::invalid_argument);
  CHECK_THROWS_AS(sum(none, Axes{0, 0}), std::invalid_argument);
}

TEST_CASE("more elements than 32 bits count are reduced") {
  const std::int64_t length = (1LL << 32U) + 5;
  const array one(std::vector<std::int64_t>{1});
  CHECK(sum(broadcast_to(one, {length})).item<std::int64_t>() == length);
}

TEST_CASE("long rows are reduced each by itself, and means know their lengths") {
  const std::int64_t length = (1LL << 31U) + 3;
  const array halves(std::vector<float>{0.5F, 2.0F}, {2, 1});
  CHECK(any(broadcast_to(array({{false}, {true}}), {2, length}), 1).to_vector<bool>() ==
        std::vector<bool>{false, true});
  check_close(mean(broadcast_to(halves, {2, length}), 1), {0.5, 2}, 2);
}

TEST_CASE("more results than kernels count are refused by name") {
  const array many = broadcast_to(array({true}), {1LL << 31U, 2});
  CHECK_THROWS_WITH_AS(any(many, 1),
                       "[any] axes 1 to 1 of the shape [2147483648, 2]: up to 35184372088832 "
                       "elements can be reduced to each of up to 2147483647 results",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(argmax(many, 0),
                       "[argmax] 2147483648 elements along an axis; up to 2147483647 are possible",
                       std::invalid_argument);
}

TEST_CASE("views, broadcast and fused inputs are reduced") {
  const std::vector<double> values = numbers(40 * 60, -3, 3, Dtype::Float32);
  const array x = make_array(values, {40, 60}, Dtype::Float32);
  std::vector<double> rows(40, 0);
  std::vector<double> columns(60, 0);
  std::vector<double> odd(40, 0);
  double total = 0;
  for (std::size_t r = 0; r < 40; ++r) {
    for (std::size_t c = 0; c < 60; ++c) {
      const double value = values[r * 60 + c];
      rows[r] += value * value;
      columns[c] += value;
      odd[r] += c % 2 == 1 ? value : 0;
      total += std::abs(value);
    }
  }
  check_close(sum(x * x, 1), rows, 16, 1e-5);
  check_close(sum(transpose(x), 1), columns, 16, 1e-5);
  check_close(sum(slice(x, {0, 1}, {40, 60}, {1, 2}), 1), odd, 16, 1e-5);
  check_close(sum(abs(x)), {total}, 16, 1e-4);
  std::vector<double> centred(40, 0);
  for (std::size_t r = 0; r < 40; ++r) {
    for (std::size_t c = 0; c < 60; ++c) {
      centred[r] += std::abs(values[r * 60 + c] - columns[c]);
    }
  }
  check_close(sum(abs(x - sum(x, 0)), 1), centred, 16, 1e-4);
}

TEST_CASE("mean, variance and deviation") {
  const std::vector<double> values = numbers(7 * 33, 100, 108, Dtype::Float32);
  const array x = make_array(values, {7, 33}, Dtype::Float32);
  std::vector<double> means;
  std::vector<double> variances;
  for (std::size_t r = 0; r < 7; ++r) {
    double mean_of = 0;
    for (std::size_t c = 0; c < 33; ++c) {
      mean_of += values[r * 33 + c] / 33;
    }
    double variance = 0;
    for (std::size_t c = 0; c < 33; ++c) {
      variance += std::pow(values[r * 33 + c] - mean_of, 2) / 32;
    }
    means.push_back(mean_of);
    variances.push_back(variance);
  }
  check_close(mean(x, 1), means, 4);
  check_close(var(x, 1, false, 1), variances, 1000);
  for (double& variance : variances) {
    variance = std::sqrt(variance);
  }
  check_close(pewter::std(x, 1, false, 1), variances, 1000);
  CHECK(mean(array({1, 2})).dtype() == Dtype::Float32);
  CHECK(mean(ones({3}, Dtype::Float16)).dtype() == Dtype::Float16);
}

TEST_CASE("positions of extremes are those of the first") {
  for (const std::int64_t length : {1, 31, 33, 1025}) {
    std::vector<double> values = numbers(static_cast<std::size_t>(length * 3), 0, 9, Dtype::Int32);
    const array x = make_array(values, {3, length}, Dtype::Int32);
    std::vector<double> expected;
    for (std::size_t r = 0; r < 3; ++r) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(r) * length;
      expected.push_back(static_cast<double>(std::max_element(first, first + length) - first));
    }
    check_close(argmax(x, 1), expected, 0);
    check_close(argmax(transpose(x), 0), expected, 0);
    const array inverted = negative(x);
    check_close(argmin(inverted, -1), expected, 0);
  }
  CHECK(argmax(array({{1, 9}, {3, 4}})).item<std::uint32_t>() == 1);
}

TEST_CASE("softmax and logsumexp agree with a loop in double") {
  for (const std::int64_t length : {1, 31, 33, 1025}) {
    const std::vector<double> values =
        numbers(static_cast<std::size_t>(length * 2), -20, 20, Dtype::Float32);
    const array x = make_array(values, {2, length}, Dtype::Float32);
    std::vector<double> expected;
    std::vector<double> logs;
    for (std::int64_t r = 0; r < 2; ++r) {
      double total = 0;
      for (std::int64_t c = 0; c < length; ++c) {
        total += std::exp(values[static_cast<std::size_t>(r * length + c)]);
      }
      for (std::int64_t c = 0; c < length; ++c) {
        expected.push_back(std::exp(values[static_cast<std::size_t>(r * length + c)]) / total);
      }
      logs.push_back(std::log(total));
    }
    check_close(softmax(x, -1), expected, 64, 1e-9);
    check_close(transpose(softmax(transpose(x), 0)), expected, 64, 1e-9);
    check_close(logsumexp(x, 1), logs, 8);
  }
  CHECK(logsumexp(array({-INFINITY, -INFINITY})).item<float>() == -INFINITY);
}

TEST_CASE("softmax of rows with numbers that are not finite") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  // What stands in the middle of a row of zeros, and what the first and the middle element become.
  struct Row {
    float middle;
    double first_result;
    double middle_result;
  };
  constexpr std::size_t kLength = 40;
  constexpr Row kRows[] = {{0, 1.0 / kLength, 1.0 / kLength},
                           {kNan, kNan, kNan},
                           {-kInfinity, 1.0 / (kLength - 1), 0},
                           {kInfinity, kNan, kNan},
                           {3e38F, 0, 1}};
  // Several rows are computed one after the other.
  constexpr std::size_t kRepeats = 60;
  std::vector<float> values;
  for (std::size_t r = 0; r < kRepeats * std::size(kRows); ++r) {
    values.resize(values.size() + kLength);
    values[values.size() - kLength / 2] = kRows[r % std::size(kRows)].middle;
  }
  const auto rows = static_cast<std::int64_t>(kRepeats * std::size(kRows));
  const array result = softmax(array(values, {rows, std::int64_t{kLength}}), -1);
  const float* elements = result.data<float>();

  const auto agrees = [](float got, double expected) {
    return std::isnan(expected) ? std::isnan(got) : std::abs(got - expected) < 1e-6;
  };
  for (std::size_t r = 0; r < kRepeats * std::size(kRows); ++r) {
    CAPTURE(r);
    const Row& row = kRows[r % std::size(kRows)];
    REQUIRE(agrees(elements[r * kLength], row.first_result));
    REQUIRE(agrees(elements[r * kLength + kLength / 2], row.middle_result));
  }
  const float low = -kInfinity;
  CHECK(std::isnan(softmax(array({low, low, low}), -1).data<float>()[1]));
}

TEST_CASE("running sums and their relatives") {
  for (const std::int64_t length : {1, 31, 32, 33, 1025}) {
    const std::vector<double> values =
        numbers(static_cast<std::size_t>(length * 2), -9, 9, Dtype::Int32);
    const array x = make_array(values, {2, length}, Dtype::Int32);
    std::vector<double> sums;
    std::vector<double> greatest;
    std::vector<double> backwards(values.size());
    std::vector<double> exclusive;
    for (std::int64_t r = 0; r < 2; ++r) {
      double total = 0;
      double high = -100;
      for (std::int64_t c = 0; c < length; ++c) {
        const double value = values[static_cast<std::size_t>(r * length + c)];
        exclusive.push_back(total);
        total += value;
        high = std::max(high, value);
        sums.push_back(total);
        greatest.push_back(high);
      }
      total = 0;
      for (std::int64_t c = length; c-- > 0;) {
        total += values[static_cast<std::size_t>(r * length + c)];
        backwards[static_cast<std::size_t>(r * length + c)] = total;
      }
    }
    check_close(cumsum(x, 1), sums, 0);
    check_close(cumsum(x, 1, true), backwards, 0);
    check_close(cumsum(x, 1, false, false), exclusive, 0);
    check_close(cummax(x, 1), greatest, 0);
    check_close(transpose(cumsum(transpose(x), 0)), sums, 0);
  }
  check_close(cumprod(array({1.0F, 2.0F, 3.0F, 4.0F}), 0), {1, 2, 6, 24}, 0);
  check_close(cummin(array({3.0F, 1.0F, 2.0F}), 0), {3, 1, 1}, 0);
}

TEST_CASE("without an axis running sums go through the flattened array") {
  const array x({{1, 2}, {3, 4}});
  CHECK(cumsum(x).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 3, 6, 10});
  CHECK(cumsum(x, true).to_vector<std::int32_t>() == std::vector<std::int32_t>{10, 9, 7, 4});
  CHECK(cumprod(x, false, false).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{1, 1, 2, 6});
  CHECK(cummax(array(7)).to_vector<std::int32_t>() == std::vector<std::int32_t>{7});
}

TEST_CASE("running extremes keep the type, and begin at its end where nothing precedes") {
  const array truths({false, true, false});
  CHECK(cummax(truths, 0, false, false).to_vector<bool>() == std::vector<bool>{false, false, true});
  CHECK(cummin(truths, 0, false, false).to_vector<bool>() == std::vector<bool>{true, false, false});
  const array small(std::vector<std::int8_t>{3, -7});
  CHECK(cummax(small, 0, false, false).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{-128, 3});
  CHECK(cummin(small, 0, false, false).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{127, 3});
  const array words(std::vector<std::uint16_t>{3, 9});
  CHECK(cummin(words, 0, true, false).to_vector<std::uint16_t>() ==
        std::vector<std::uint16_t>{9, 65535});
}
