#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/array/reference.h"

// What is made of elementwise operations, with every type, in all forms of operands. Operands are
// whole numbers, or multiples of 1/64, which no step has to round.

using namespace pewter;
using namespace pewter::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kRows = 3;

/// A matrix of three rows and its elements in the order in which an operation meets them.
struct Matrix {
  array value;
  std::vector<double> elements;
};

std::vector<double> multiples(std::int64_t count, double low, double high, Dtype dtype) {
  std::vector<double> values = elements(count, dtype, low, high);
  for (double& value : values) {
    value = std::floor(value * 64) / 64;
  }
  return stored(values, dtype);
}

std::vector<double> wholes(std::int64_t count, double low, double high, Dtype dtype) {
  std::vector<double> values = elements(count, dtype, low, high);
  for (double& value : values) {
    value = std::floor(value);
  }
  return values;
}

Matrix contiguous_matrix(const std::vector<double>& values, std::int64_t columns, Dtype dtype) {
  return {make_array(values, {kRows, columns}, dtype), values};
}

/// The same elements, the last one first in memory and every second place between them.
Matrix strided_matrix(const std::vector<double>& values, std::int64_t columns, Dtype dtype) {
  std::vector<double> places(values.size() * 2, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    places[places.size() - 1 - 2 * i] = values[i];
  }
  const array whole = make_array(places, {kRows, 2 * columns}, dtype);
  return {slice(whole, {-1, -1}, {-100000, -100000}, {-1, -2}), values};
}

/// The first row for all.
Matrix broadcast_matrix(const std::vector<double>& values, std::int64_t columns, Dtype dtype) {
  const std::vector<double> row(values.begin(), values.begin() + columns);
  std::vector<double> repeated;
  for (std::int64_t r = 0; r < kRows; ++r) {
    repeated.insert(repeated.end(), row.begin(), row.end());
  }
  return {make_array(row, {columns}, dtype), repeated};
}

using Form = Matrix (*)(const std::vector<double>&, std::int64_t, Dtype);

/// Calls `check(columns, dtype, first form, second form)` for all of them.
template <typename Check>
void for_each_form(const Check& check) {
  for (const Dtype dtype : every_dtype()) {
    for (const std::int64_t columns : sizes()) {
      CAPTURE(name_of(dtype));
      CAPTURE(columns);
      check(columns, dtype, contiguous_matrix, strided_matrix);
      check(columns, dtype, strided_matrix, broadcast_matrix);
    }
  }
}

template <typename Function>
std::vector<double> applied(const Matrix& a, const Matrix& b, const Function& function) {
  std::vector<double> results;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    results.push_back(function(a.elements[i], b.elements[i]));
  }
  return results;
}

}  // namespace

TEST_CASE("choices, limits and distances of every type agree with loops in double") {
  for_each_form([](std::int64_t columns, Dtype dtype, Form first, Form second) {
    const Matrix a = first(wholes(kRows * columns, -40, 40, dtype), columns, dtype);
    const Matrix b = second(wholes(kRows * columns, -60, 60, dtype), columns, dtype);
    check_close(where(greater(a.value, b.value), a.value, b.value),
                applied(a, b, [](double x, double y) { return x > y ? x : y; }), 0);
    check_close(clip(a.value, array(1, dtype), b.value),
                applied(a, b, [](double x, double y) { return std::min(std::max(x, 1.0), y); }), 0);
    check_close(isclose(a.value, b.value, 0.125, 0.3),
                applied(a, b,
                        [](double x, double y) {
                          return std::abs(x - y) <= 0.3 + 0.125 * std::abs(y) ? 1.0 : 0.0;
                        }),
                0);
  });
}

TEST_CASE("quotients with their remainders of every type agree with loops in double") {
  for_each_form([](std::int64_t columns, Dtype dtype, Form first, Form second) {
    if (dtype == Dtype::Complex64) {
      CHECK_THROWS_AS(divmod(ones({1}, dtype), ones({1}, dtype)), std::invalid_argument);
      return;
    }
    const Matrix a = first(wholes(kRows * columns, -60, 60, dtype), columns, dtype);
    const Matrix b = second(wholes(kRows * columns, 1, 9, dtype), columns, dtype);
    const std::vector<array> parts = divmod(a.value, b.value);
    check_close(parts[0],
                applied(a, b, [](double x, double y) { return y == 0 ? 0 : std::floor(x / y); }),
                0);
    check_close(
        parts[1],
        applied(a, b, [](double x, double y) { return y == 0 ? 0 : x - y * std::floor(x / y); }),
        0);
  });
}

TEST_CASE("rounding of every type to decimals and tens agrees with a loop in double") {
  for_each_form([](std::int64_t columns, Dtype dtype, Form first, Form /*second*/) {
    const Matrix a = first(multiples(kRows * columns, -60, 60, dtype), columns, dtype);
    const bool is_whole = dtype < Dtype::Float16;
    check_close(
        round(a.value, 1),
        applied(a, a,
                [&](double x, double /*y*/) { return is_whole ? x : std::nearbyint(x * 10) / 10; }),
        1);
    if (dtype != Dtype::Bool) {
      check_close(round(a.value, -1),
                  applied(a, a, [](double x, double /*y*/) { return std::nearbyint(x / 10) * 10; }),
                  0);
    }
  });
}

TEST_CASE("what is no finite number is replaced in every type that has it") {
  for_each_form([](std::int64_t columns, Dtype dtype, Form first, Form /*second*/) {
    std::vector<double> values = multiples(kRows * columns, -60, 60, dtype);
    const bool is_floating = dtype >= Dtype::Float16 && dtype <= Dtype::Float32;
    for (std::size_t i = 0; is_floating && i < values.size(); i += 5) {
      values[i] = i % 3 == 0 ? kNan : i % 3 == 1 ? kInfinity : -kInfinity;
    }
    const Matrix a = first(values, columns, dtype);
    check_close(nan_to_num(a.value, 1, 2.0F, -3.0F),
                applied(a, a,
                        [](double x, double /*y*/) {
                          return std::isnan(x) ? 1 : std::isinf(x) ? (x > 0 ? 2 : -3) : x;
                        }),
                0);
  });
}

TEST_CASE("triangles of every type are cut as loops cut them") {
  for_each_form([](std::int64_t columns, Dtype dtype, Form first, Form /*second*/) {
    const Matrix a = first(wholes(kRows * columns, -60, 60, dtype), columns, dtype);
    for (const int k : {-1, 0, 2}) {
      std::vector<double> low = a.elements;
      std::vector<double> high = a.elements;
      for (std::int64_t i = 0; i < kRows * columns; ++i) {
        const std::int64_t diagonal = i % columns - i / columns;
        (diagonal <= k ? high : low)[static_cast<std::size_t>(i)] *= diagonal == k ? 1 : 0;
      }
      check_close(tril(a.value, k), low, 0);
      check_close(triu(a.value, k), high, 0);
    }
  });
}

TEST_CASE("products with an addend of every type agree with a loop in double") {
  constexpr std::int64_t kInner = 4;
  for_each_form([](std::int64_t columns, Dtype dtype, Form first, Form second) {
    const std::vector<double> left = wholes(kRows * kInner, -3, 4, dtype);
    const std::vector<double> right = wholes(kInner * columns, -3, 4, dtype);
    const Matrix c = second(wholes(kRows * columns, -20, 20, dtype), columns, dtype);
    const Matrix a = first(left, kInner, dtype);
    const array b = make_array(right, {kInner, columns}, dtype);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < kRows * columns; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < kInner; ++k) {
        sum += left[static_cast<std::size_t>(i / columns * kInner + k)] *
               right[static_cast<std::size_t>(k * columns + i % columns)];
      }
      expected.push_back(2 * sum + 0.5 * c.elements[static_cast<std::size_t>(i)]);
    }
    check_close(addmm(c.value, a.value, b, 2, 0.5F), expected, 0);
  });
}
