#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

// Reductions, scans and orders with every type, along rows of every length.
namespace {

/// A matrix of two rows, and the same reversed in memory and seen in its right order again.
struct Rows {
  std::vector<double> values;
  std::int64_t length;
  Dtype dtype;

  array contiguous() const { return make_array(values, {2, length}, dtype); }
  array strided() const {
    std::vector<double> backwards(values.rbegin(), values.rend());
    return slice(make_array(backwards, {2, length}, dtype), {-1, -1}, {-100000, -100000}, {-1, -1});
  }
  double at(std::size_t row, std::size_t column) const {
    return values[row * static_cast<std::size_t>(length) + column];
  }
  std::size_t columns() const { return static_cast<std::size_t>(length); }
};

Rows rows_of(std::int64_t length, Dtype dtype, double low, double high) {
  const bool is_bool = dtype == Dtype::Bool;
  low = is_bool ? 0 : is_unsigned(dtype) ? std::max(low, 0.0) : low;
  return {numbers(static_cast<std::size_t>(2 * length), low, is_bool ? 2 : high, dtype), length,
          dtype};
}

using Fold = std::function<double(const Rows&, std::size_t row)>;

std::vector<double> folded(const Rows& rows, const Fold& fold) {
  return {fold(rows, 0), fold(rows, 1)};
}

struct ReductionRow {
  const char* name;
  array (*function)(const array&, const Axes&, bool, StreamOrDevice);
  double start;
  double (*combine)(double, double);
  /// The range of elements.
  double low;
  double high;
};

const ReductionRow kReductions[] = {
    {"sum", sum, 0, [](double a, double b) { return a + b; }, -4, 4},
    {"prod", prod, 1, [](double a, double b) { return a * b; }, 0, 0},
    {"min", min, INFINITY, [](double a, double b) { return std::min(a, b); }, -90, 90},
    {"max", max, -INFINITY, [](double a, double b) { return std::max(a, b); }, -90, 90},
    {"all", all, 1, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, -3, 3},
    {"any", any, 0, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, -1, 1},
};

bool has_order(Dtype dtype) {
  return dtype != Dtype::Complex64;
}

/// Numbers of which a thousand can be multiplied: around 1, or ones and a few twos.
Rows factors(std::int64_t length, Dtype dtype) {
  Rows rows = rows_of(length, dtype, 0.99, 1.01);
  for (std::size_t i = 0; i < rows.values.size() && is_integer(dtype); ++i) {
    rows.values[i] = i % 97 == 5 ? 2 : 1;
  }
  return rows;
}

Rows rows_for(const ReductionRow& row, std::int64_t length, Dtype dtype) {
  const bool is_product = std::string(row.name) == "prod";
  return is_product ? factors(length, dtype) : rows_of(length, dtype, row.low, row.high);
}

/// Of integers exact; of floats each of the additions may be half a unit of the sum of sizes off.
double bound(const Rows& rows, double largest) {
  return rows.dtype < Dtype::Float16 ? 0 : 0x1p-23 * static_cast<double>(rows.length) * largest;
}

std::vector<array> reduced_every_way(const ReductionRow& row, const Rows& rows) {
  return {row.function(rows.contiguous(), {1}, false, {}),
          row.function(rows.strided(), {1}, false, {})};
}

}  // namespace

TEST_CASE("reductions of every type agree with a loop in double") {
  for (const ReductionRow& row : kReductions) {
    const bool is_extreme = std::isinf(row.start);
    for (const Dtype dtype : every_dtype()) {
      if (is_extreme && !has_order(dtype)) {
        CHECK_THROWS_AS(row.function(zeros({2, 2}, dtype), {1}, false, {}), std::invalid_argument);
        continue;
      }
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      for (const std::int64_t length : sizes()) {
        CAPTURE(length);
        const Rows rows = rows_for(row, length, dtype);
        if (is_extreme && length == 0) {
          CHECK_THROWS_AS(row.function(rows.contiguous(), {1}, false, {}), std::invalid_argument);
          continue;
        }
        const std::vector<double> expected = folded(rows, [&](const Rows& all, std::size_t r) {
          double total = row.start;
          for (std::size_t c = 0; c < all.columns(); ++c) {
            total = row.combine(total, all.at(r, c));
          }
          return total;
        });
        std::vector<array> results = {row.function(rows.contiguous(), {1}, false, {})};
        if (length == 33 && size_of(dtype) >= 4) {
          results = reduced_every_way(row, rows);
        }
        for (const array& result : results) {
          const bool is_exact = dtype < Dtype::Float16 || is_extreme || row.start == 1;
          check_close(result, expected, is_exact && row.name[0] != 'p' ? 0 : 1, bound(rows, 8));
        }
      }
    }
  }
}

TEST_CASE("reductions of columns agree with a loop in double for every size of elements") {
  for (const ReductionRow& row : kReductions) {
    for (const Dtype dtype : {Dtype::UInt8, Dtype::Float16, Dtype::Float32, Dtype::Int64}) {
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      const Rows rows = rows_for(row, 37, dtype);
      std::vector<double> expected;
      for (std::size_t c = 0; c < 37; ++c) {
        expected.push_back(row.combine(row.combine(row.start, rows.at(0, c)), rows.at(1, c)));
      }
      check_close(row.function(rows.contiguous(), {0}, false, {}), expected, 1, bound(rows, 8));
    }
  }
}

TEST_CASE("means, deviations and sums of powers take every type") {
  for (const Dtype dtype : every_dtype()) {
    const bool is_float32 = dtype == Dtype::Float32;
    for (const std::int64_t length : is_float32 ? sizes() : std::vector<std::int64_t>{33}) {
      if (length == 0) {
        continue;
      }
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const Rows rows = rows_of(length, dtype, -3, 3);
      const auto count = static_cast<double>(length);
      std::vector<double> means;
      std::vector<double> variances;
      std::vector<double> deviations;
      std::vector<double> logs;
      for (std::size_t r = 0; r < 2; ++r) {
        double total = 0;
        double powers = 0;
        for (std::size_t c = 0; c < rows.columns(); ++c) {
          total += rows.at(r, c);
          powers += std::exp(rows.at(r, c));
        }
        double squares = 0;
        for (std::size_t c = 0; c < rows.columns(); ++c) {
          squares += std::pow(rows.at(r, c) - total / count, 2);
        }
        means.push_back(total / count);
        variances.push_back(squares / count);
        deviations.push_back(std::sqrt(squares / count));
        logs.push_back(std::log(powers));
      }
      const array x = rows.contiguous();
      check_close(mean(x, 1), means, 1, 1e-6);
      if (dtype != Dtype::Complex64) {
        check_close(var(x, 1), variances, 4, 1e-6);
        check_close(pewter::std(x, 1), deviations, 4, 1e-6);
        check_close(logsumexp(x, 1), logs, 4, 1e-6);
      }
    }
  }
  CHECK_THROWS_AS(var(zeros({3}, Dtype::Complex64)), std::invalid_argument);
  CHECK(std::isnan(mean(zeros({0})).item<float>()));
}

TEST_CASE("positions of extremes take every type") {
  for (const Dtype dtype : all_dtypes()) {
    for (const std::int64_t length : sizes()) {
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const Rows rows = rows_of(length, dtype, -9, 9);
      if (length == 0) {
        CHECK_THROWS_AS(argmax(rows.contiguous(), 1), std::invalid_argument);
        continue;
      }
      std::vector<double> greatest;
      std::vector<double> least;
      for (std::size_t r = 0; r < 2; ++r) {
        const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(r) * length;
        greatest.push_back(static_cast<double>(std::max_element(first, first + length) - first));
        least.push_back(static_cast<double>(std::min_element(first, first + length) - first));
      }
      check_close(argmax(rows.contiguous(), 1), greatest, 0);
      check_close(argmin(rows.strided(), 1), least, 0);
    }
  }
  CHECK_THROWS_AS(argmin(zeros({2}, Dtype::Complex64)), std::invalid_argument);
}

namespace {

struct ScanRow {
  const char* name;
  array (*function)(const array&, int, bool, bool, StreamOrDevice);
  double (*combine)(double, double);
  double low;
  double high;
};

const ScanRow kScans[] = {
    {"cumsum", cumsum, [](double a, double b) { return a + b; }, -4, 4},
    {"cumprod", cumprod, [](double a, double b) { return a * b; }, 0, 0},
    {"cummax", cummax, [](double a, double b) { return std::max(a, b); }, -90, 90},
    {"cummin", cummin, [](double a, double b) { return std::min(a, b); }, -90, 90},
};

}  // namespace

TEST_CASE("running sums and their relatives take every type") {
  for (const ScanRow& row : kScans) {
    const bool is_product = std::string(row.name) == "cumprod";
    for (const Dtype dtype : all_dtypes()) {
      for (const std::int64_t length : sizes()) {
        CAPTURE(row.name);
        CAPTURE(name_of(dtype));
        CAPTURE(length);
        const Rows rows =
            is_product ? factors(length, dtype) : rows_of(length, dtype, row.low, row.high);
        std::vector<double> expected;
        std::vector<double> backwards(rows.values.size());
        for (std::size_t r = 0; r < 2; ++r) {
          for (std::size_t c = 0; c < rows.columns(); ++c) {
            expected.push_back(c == 0 ? rows.at(r, c)
                                      : row.combine(expected.back(), rows.at(r, c)));
          }
          for (std::size_t c = rows.columns(); c-- > 0;) {
            const std::size_t place = r * rows.columns() + c;
            backwards[place] = c + 1 == rows.columns()
                                   ? rows.at(r, c)
                                   : row.combine(backwards[place + 1], rows.at(r, c));
          }
        }
        check_close(row.function(rows.contiguous(), 1, false, true, {}), expected, 1,
                    bound(rows, 8));
        check_close(row.function(rows.strided(), 1, true, true, {}), backwards, 1, bound(rows, 8));
      }
      // Along columns, where neighbours are rows.
      const Rows rows = rows_of(33, dtype, 1, 2);
      std::vector<double> expected;
      for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t c = 0; c < 33; ++c) {
          expected.push_back(r == 0 ? rows.at(0, c) : row.combine(rows.at(0, c), rows.at(1, c)));
        }
      }
      check_close(row.function(rows.contiguous(), 0, false, true, {}), expected, 1);
    }
  }
  CHECK_THROWS_AS(cummax(zeros({2}, Dtype::Complex64), 0), std::invalid_argument);
  CHECK_THROWS_AS(cummin(zeros({2}, Dtype::Complex64), 0), std::invalid_argument);
}

TEST_CASE("sorting and its relatives take every type and every length") {
  for (const Dtype dtype : all_dtypes()) {
    for (const std::int64_t length : sizes()) {
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const Rows rows = rows_of(length, dtype, -90, 90);
      std::vector<double> sorted = rows.values;
      std::vector<double> places;
      for (std::size_t r = 0; r < 2; ++r) {
        const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(r) * length;
        std::sort(first, first + length);
        std::vector<std::size_t> order(rows.columns());
        for (std::size_t c = 0; c < order.size(); ++c) {
          order[c] = c;
        }
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return rows.at(r, a) < rows.at(r, b) || (rows.at(r, a) == rows.at(r, b) && a < b);
        });
        places.insert(places.end(), order.begin(), order.end());
      }
      check_close(sort(rows.contiguous(), 1), sorted, 0);
      check_close(argsort(rows.strided(), 1), places, 0);
      if (length == 33) {
        const std::vector<double> parted = read(partition(rows.contiguous(), 20, 1));
        const std::vector<double> where_parted = read(argpartition(rows.contiguous(), 20, 1));
        for (std::size_t r = 0; r < 2; ++r) {
          CHECK(parted[r * 33 + 20] == sorted[r * 33 + 20]);
          CHECK(rows.at(r, static_cast<std::size_t>(where_parted[r * 33 + 20])) ==
                sorted[r * 33 + 20]);
        }
        std::vector<double> greatest = read(topk(rows.contiguous(), 5, 1));
        std::sort(greatest.begin(), greatest.begin() + 5);
        CHECK(std::equal(greatest.begin(), greatest.begin() + 5, sorted.begin() + 28));
      }
    }
  }
}
