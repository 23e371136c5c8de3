#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <string>

#include "pewter/array/ops/elementwise.h"
#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

using Unary = array (*)(const array&, StreamOrDevice);
using Binary = array (*)(const array&, const array&, StreamOrDevice);

struct UnaryRow {
  const char* name;
  Unary function;
  double (*expected)(double);
  double low;
  double high;
  /// Beyond the rounding of the result.
  double ulps;
};

double sign_of(double a) {
  return a > 0 ? 1 : a < 0 ? -1 : 0;
}

double inverse_erf(double a) {
  // Newton's iteration from a rough start.
  double x = 0;
  for (int i = 0; i < 200; ++i) {
    x -= (std::erf(x) - a) / (2 / std::sqrt(std::acos(-1.0)) * std::exp(-x * x));
  }
  return x;
}

const UnaryRow kUnary[] = {
    {"abs", abs, [](double a) { return std::abs(a); }, -100, 100, 0},
    {"arccos", arccos, [](double a) { return std::acos(a); }, -0.99, 0.99, 8},
    {"arccosh", arccosh, [](double a) { return std::acosh(a); }, 1.1, 100, 8},
    {"arcsin", arcsin, [](double a) { return std::asin(a); }, -1, 1, 8},
    {"arcsinh", arcsinh, [](double a) { return std::asinh(a); }, -100, 100, 8},
    {"arctan", arctan, [](double a) { return std::atan(a); }, -100, 100, 8},
    {"arctanh", arctanh, [](double a) { return std::atanh(a); }, -0.99, 0.99, 8},
    {"ceil", ceil, [](double a) { return std::ceil(a); }, -100, 100, 0},
    {"conjugate", conjugate, [](double a) { return a; }, -100, 100, 0},
    {"cos", cos, [](double a) { return std::cos(a); }, -1.5, 1.5, 8},
    {"cosh", cosh, [](double a) { return std::cosh(a); }, -5, 5, 8},
    {"degrees", degrees, [](double a) { return a * 57.295779513082323; }, -10, 10, 2},
    {"erf", erf, [](double a) { return std::erf(a); }, -4, 4, 4},
    {"erfinv", erfinv, inverse_erf, -0.99, 0.99, 16},
    {"exp", exp, [](double a) { return std::exp(a); }, -8, 8, 8},
    {"expm1", expm1, [](double a) { return std::expm1(a); }, -8, 8, 8},
    {"floor", floor, [](double a) { return std::floor(a); }, -100, 100, 0},
    {"imag", imag, [](double) { return 0.0; }, -100, 100, 0},
    {"isfinite", isfinite, [](double) { return 1.0; }, -100, 100, 0},
    {"isinf", isinf, [](double) { return 0.0; }, -100, 100, 0},
    {"isnan", isnan, [](double) { return 0.0; }, -100, 100, 0},
    {"isneginf", isneginf, [](double) { return 0.0; }, -100, 100, 0},
    {"isposinf", isposinf, [](double) { return 0.0; }, -100, 100, 0},
    {"log", log, [](double a) { return std::log(a); }, 2, 100, 8},
    {"log10", log10, [](double a) { return std::log10(a); }, 2, 100, 8},
    {"log1p", log1p, [](double a) { return std::log1p(a); }, -0.9, 100, 8},
    {"log2", log2, [](double a) { return std::log2(a); }, 2, 100, 8},
    {"logical_not", logical_not, [](double a) { return a == 0 ? 1.0 : 0.0; }, -2, 2, 0},
    {"negative", negative, [](double a) { return -a; }, -100, 100, 0},
    {"radians", radians, [](double a) { return a * 0.017453292519943295; }, -100, 100, 2},
    {"real", real, [](double a) { return a; }, -100, 100, 0},
    {"reciprocal", reciprocal, [](double a) { return 1 / a; }, 1, 100, 2},
    {"rint", rint, [](double a) { return std::nearbyint(a); }, -100, 100, 0},
    {"rsqrt", rsqrt, [](double a) { return 1 / std::sqrt(a); }, 1, 100, 4},
    {"sigmoid", sigmoid, [](double a) { return 1 / (1 + std::exp(-a)); }, -8, 8, 8},
    {"sign", sign, sign_of, -3, 3, 0},
    {"sin", sin, [](double a) { return std::sin(a); }, -1.5, 1.5, 8},
    {"sinh", sinh, [](double a) { return std::sinh(a); }, -5, 5, 8},
    {"sqrt", sqrt, [](double a) { return std::sqrt(a); }, 0, 100, 2},
    {"square", square, [](double a) { return a * a; }, -11, 11, 1},
    {"tan", tan, [](double a) { return std::tan(a); }, -1.4, 1.4, 8},
    {"tanh", tanh, [](double a) { return std::tanh(a); }, -4, 4, 8},
};

struct BinaryRow {
  const char* name;
  Binary function;
  double (*expected)(double, double);
  double low;
  double high;
  double ulps;
};

double floor_remainder(double a, double b) {
  return b == 0 ? 0 : a - b * std::floor(a / b);
}

double truth(bool value) {
  return value ? 1 : 0;
}

const BinaryRow kBinary[] = {
    {"add", add, [](double a, double b) { return a + b; }, 0, 60, 1},
    {"arctan2", arctan2, [](double a, double b) { return std::atan2(a, b); }, 1, 100, 8},
    {"divide", divide, [](double a, double b) { return a / b; }, 1, 100, 2},
    {"equal", equal, [](double a, double b) { return truth(a == b); }, 0, 3, 0},
    {"floor_divide", floor_divide, [](double a, double b) { return std::floor(a / b); }, 1, 90, 0},
    {"greater", greater, [](double a, double b) { return truth(a > b); }, 0, 3, 0},
    {"greater_equal", greater_equal, [](double a, double b) { return truth(a >= b); }, 0, 3, 0},
    {"less", less, [](double a, double b) { return truth(a < b); }, 0, 3, 0},
    {"less_equal", less_equal, [](double a, double b) { return truth(a <= b); }, 0, 3, 0},
    {"logaddexp", logaddexp, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); },
     0, 60, 8},
    {"logical_and", logical_and, [](double a, double b) { return truth(a != 0 && b != 0); }, 0, 2,
     0},
    {"logical_or", logical_or, [](double a, double b) { return truth(a != 0 || b != 0); }, 0, 2, 0},
    {"maximum", maximum, [](double a, double b) { return std::max(a, b); }, 0, 100, 0},
    {"minimum", minimum, [](double a, double b) { return std::min(a, b); }, 0, 100, 0},
    {"multiply", multiply, [](double a, double b) { return a * b; }, 0, 11, 1},
    {"not_equal", not_equal, [](double a, double b) { return truth(a != b); }, 0, 3, 0},
    {"power", power, [](double a, double b) { return std::pow(a, b); }, 1, 2.9, 8},
    {"remainder", remainder, floor_remainder, 1, 100, 4},
    {"subtract", subtract, [](double a, double b) { return a - b; }, -60, 60, 1},
};

struct IntegerRow {
  const char* name;
  Binary function;
  std::int64_t (*expected)(std::int64_t, std::int64_t);
};

const IntegerRow kIntegers[] = {
    {"bitwise_and", bitwise_and, [](std::int64_t a, std::int64_t b) { return a & b; }},
    {"bitwise_or", bitwise_or, [](std::int64_t a, std::int64_t b) { return a | b; }},
    {"bitwise_xor", bitwise_xor, [](std::int64_t a, std::int64_t b) { return a ^ b; }},
    {"left_shift", left_shift, [](std::int64_t a, std::int64_t b) { return a << b; }},
    {"right_shift", right_shift, [](std::int64_t a, std::int64_t b) { return a >> b; }},
};

/// Every operation in float32; some, which stand for the others, in the types of 16 bits too, where
/// all are computed in float32 and rounded.
std::vector<Dtype> types_for(const std::string& name) {
  static const std::set<std::string> kAlsoHalf = {"abs", "exp",      "erf",  "isnan",  "sqrt",
                                                  "add", "multiply", "less", "maximum"};
  if (kAlsoHalf.contains(name)) {
    return {Dtype::Float32, Dtype::Float16, Dtype::BFloat16};
  }
  return {Dtype::Float32};
}

/// Unsigned types cannot hold what is below zero.
double lowest(double low, Dtype dtype) {
  return is_unsigned(dtype) ? std::max(low, 0.0) : low;
}

}  // namespace

TEST_CASE("every operation of one operand agrees with a loop in double") {
  for (const UnaryRow& row : kUnary) {
    for (const Dtype dtype : types_for(row.name)) {
      CAPTURE(row.name);
      for (const std::int64_t size : sizes()) {
        const std::vector<double> in =
            numbers(static_cast<std::size_t>(size), row.low, row.high, dtype);
        std::vector<double> expected;
        for (const double value : in) {
          expected.push_back(row.expected(value));
        }
        const array result = row.function(make_array(in, {size}, dtype), {});
        // Operations of halves are float operations that are rounded once.
        const double ulps = dtype == Dtype::Float32 ? row.ulps : 1 + row.ulps * 0x1p-10;
        check_close(result, expected, ulps, row.ulps * 1e-7);
      }
    }
  }
}

TEST_CASE("every operation of two operands agrees with a loop in double") {
  for (const BinaryRow& row : kBinary) {
    for (const Dtype dtype : types_for(row.name)) {
      CAPTURE(row.name);
      for (const std::int64_t size : sizes()) {
        const auto count = static_cast<std::size_t>(size);
        const std::vector<double> a = numbers(count, row.low, row.high, dtype);
        std::vector<double> b = numbers(count, row.low, row.high, dtype);
        std::rotate(b.begin(), b.begin() + (b.size() > 3 ? 3 : 0), b.end());
        std::vector<double> expected;
        for (std::size_t i = 0; i < count; ++i) {
          expected.push_back(row.expected(a[i], b[i]));
        }
        const array result =
            row.function(make_array(a, {size}, dtype), make_array(b, {size}, dtype), {});
        const double ulps = dtype == Dtype::Float32 ? row.ulps : 1 + row.ulps * 0x1p-10;
        check_close(result, expected, ulps, row.ulps * 1e-6);
      }
    }
  }
}

TEST_CASE("operations take every integer type that they promise to take") {
  for (const Dtype dtype : all_dtypes()) {
    if (!is_integer(dtype)) {
      continue;
    }
    const std::vector<double> a = numbers(33, lowest(-9, dtype), 9, dtype);
    const std::vector<double> b = numbers(33, 1, 5, dtype);
    // Few types stand for the rest in most operations: each is a kernel to compile.
    const bool is_typical = dtype == Dtype::UInt8 || dtype == Dtype::Int32 || dtype == Dtype::Int64;
    for (const char* name : {"add", "floor_divide", "multiply", "maximum", "remainder", "power"}) {
      if (!is_typical && std::string(name) == "multiply") {
        break;
      }
      const auto* row = std::find_if(std::begin(kBinary), std::end(kBinary), [&](const auto& each) {
        return std::string(each.name) == name;
      });
      CAPTURE(name);
      std::vector<double> expected;
      for (std::size_t i = 0; i < a.size(); ++i) {
        // Results wrap as the type does.
        const auto whole = static_cast<std::int64_t>(row->expected(a[i], b[i]));
        array wrapped = array(static_cast<double>(0), dtype);
        graph::convert_element(reinterpret_cast<const std::byte*>(&whole), Dtype::Int64,
                               wrapped.node().first(), dtype);
        expected.push_back(graph::read_element(wrapped.node().first(), dtype));
      }
      const array result =
          row->function(make_array(a, {33}, dtype), make_array(b, {33}, dtype), {});
      CHECK(result.dtype() == dtype);
      check_close(result, expected, 0);
    }
    for (const IntegerRow& row : kIntegers) {
      if (!is_typical) {
        break;
      }
      CAPTURE(row.name);
      const std::vector<double> small = numbers(33, 0, 7, dtype);
      std::vector<double> expected;
      for (std::size_t i = 0; i < small.size(); ++i) {
        expected.push_back(static_cast<double>(
            row.expected(static_cast<std::int64_t>(small[i]), static_cast<std::int64_t>(b[i]))));
      }
      check_close(row.function(make_array(small, {33}, dtype), make_array(b, {33}, dtype), {}),
                  expected, 0);
    }
  }
}

TEST_CASE("every row of the table has a row here") {
  std::set<std::string> tested = {"bitwise_invert", "astype", "where"};
  for (const UnaryRow& row : kUnary) {
    tested.insert(row.name);
  }
  for (const BinaryRow& row : kBinary) {
    tested.insert(row.name);
  }
  for (const IntegerRow& row : kIntegers) {
    tested.insert(row.name);
  }
  for (const ops::Elementwise& row : ops::elementwise_table()) {
    CHECK_MESSAGE(tested.contains(row.name), row.name);
  }
}

TEST_CASE("conversions of all types are those of the host") {
  for (const Dtype from : all_dtypes()) {
    for (const Dtype to : all_dtypes()) {
      // Every type to and from two; numbers that an unsigned type cannot hold are undefined.
      const bool is_tested = from == Dtype::Float32 || to == Dtype::Float32 ||
                             (from == Dtype::Int64 && size_of(to) < 4) || from == Dtype::Bool;
      if (!is_tested) {
        continue;
      }
      const double low = is_unsigned(to) && !is_integer(from) ? 0 : -100;
      const std::vector<double> in = numbers(33, lowest(low, from), 100, from);
      std::vector<double> expected;
      for (const double value : in) {
        array element(value, from);
        array converted(0.0, to);
        graph::convert_element(element.node().first(), from, converted.node().first(), to);
        expected.push_back(graph::read_element(converted.node().first(), to));
      }
      CAPTURE(name_of(from));
      check_close(astype(make_array(in, {33}, from), to), expected, 0);
    }
  }
}

TEST_CASE("special values follow IEEE rules") {
  const float inf = INFINITY;
  const array x({NAN, inf, -inf, 0.0F, 1.0F});
  CHECK(isnan(x).to_vector<bool>() == std::vector<bool>{true, false, false, false, false});
  CHECK(isinf(x).to_vector<bool>() == std::vector<bool>{false, true, true, false, false});
  CHECK(isneginf(x).to_vector<bool>() == std::vector<bool>{false, false, true, false, false});
  CHECK(isposinf(x).to_vector<bool>() == std::vector<bool>{false, true, false, false, false});
  CHECK(isfinite(x).to_vector<bool>() == std::vector<bool>{false, false, false, true, true});
  check_close(exp(x), {NAN, inf, 0, 1, std::exp(1.0)}, 4);
  check_close(maximum(x, array(0.5F)), {NAN, inf, 0.5, 0.5, 1}, 0);
  check_close(expm1(x), {NAN, inf, -1, 0, std::expm1(1.0)}, 4);
  check_close(log1p(x), {NAN, inf, NAN, 0, std::log(2.0)}, 4);
  check_close(erf(x), {NAN, 1, -1, 0, std::erf(1.0)}, 4);
  check_close(nan_to_num(x), {0, 3.4028234663852886e38, -3.4028234663852886e38, 0, 1}, 0);
}

TEST_CASE("division of integers by zero is zero") {
  for (const Dtype dtype : {Dtype::Int32, Dtype::UInt8, Dtype::Int64}) {
    const array x = make_array({5, 0, 7}, {3}, dtype);
    const array zero = zeros({3}, dtype);
    check_close(floor_divide(x, zero), {0, 0, 0}, 0);
    check_close(remainder(x, zero), {0, 0, 0}, 0);
  }
  const array least(std::vector<std::int32_t>{INT32_MIN, INT32_MIN});
  const array divisor(std::vector<std::int32_t>{-1, 1});
  CHECK(floor_divide(least, divisor).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{INT32_MIN, INT32_MIN});
  CHECK(remainder(array({-7, 7, -7, 7}), array({3, 3, -3, -3})).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{2, 1, -1, -2});
}

TEST_CASE("inputs may be strided, broadcast, transposed and reversed") {
  for (const std::int64_t columns : {1, 5, 31, 33, 130}) {
    const std::int64_t rows = 7;
    const std::vector<double> base =
        numbers(static_cast<std::size_t>(2 * rows * columns * 3), -5, 5, Dtype::Float32);
    const array whole = make_array(base, {2 * rows, columns * 3}, Dtype::Float32);
    const array strided = slice(whole, {1, 2}, {2 * rows, columns * 3}, {2, 3});
    const array reversed = slice(whole, {-1, -1}, {-1000, -1000}, {-2, -3});
    const array row = slice(whole, {3, 0}, {4, columns});
    const array turned = transpose(slice(whole, {0, 0}, {1, rows}, {1, 1}));
    REQUIRE(strided.shape() == Shape{rows, columns});
    REQUIRE(reversed.shape() == Shape{rows, columns});
    const bool fits = rows <= columns * 3;
    std::vector<double> expected;
    const auto at = [&](std::int64_t r, std::int64_t c) {
      return base[static_cast<std::size_t>(r * columns * 3 + c)];
    };
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const double column = fits ? at(0, r) : 0;
        expected.push_back(at(1 + 2 * r, 2 + 3 * c) *
                               at(2 * rows - 1 - 2 * r, columns * 3 - 1 - 3 * c) +
                           at(3, c) - column);
      }
    }
    array result = strided * reversed + row;
    if (fits) {
      result = result - turned;
    }
    check_close(result, expected, 4, 1e-5);
  }
}

TEST_CASE("broadcasting over many axes") {
  const array a =
      make_array(numbers(2 * 3 * 5, 0, 9, Dtype::Float32), {2, 1, 3, 1, 5}, Dtype::Float32);
  const array b = make_array(numbers(4 * 7, 0, 9, Dtype::Float32), {4, 1, 7, 1}, Dtype::Float32);
  const std::vector<double> x = read(a);
  const std::vector<double> y = read(b);
  std::vector<double> expected;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t l = 0; l < 7; ++l) {
          for (std::size_t m = 0; m < 5; ++m) {
            expected.push_back(x[(i * 3 + k) * 5 + m] + y[j * 7 + l]);
          }
        }
      }
    }
  }
  const array result = a + b;
  CHECK(result.shape() == Shape{2, 4, 3, 7, 5});
  check_close(result, expected, 1);
}

TEST_CASE("complex numbers") {
  using Complex = std::complex<float>;
  const std::vector<Complex> values = {{1, 2}, {-3, 0.5F}, {0, -1}, {2, 0}};
  const array z(values);
  const std::vector<Complex> squares = (z * z).to_vector<Complex>();
  const std::vector<Complex> roots = sqrt(z).to_vector<Complex>();
  const std::vector<Complex> quotients = (z / array(Complex(1, 1))).to_vector<Complex>();
  const std::vector<Complex> exponentials = exp(z).to_vector<Complex>();
  const std::vector<float> sizes_of = abs(z).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(std::abs(squares[i] - values[i] * values[i]) < 1e-5);
    CHECK(std::abs(roots[i] - std::sqrt(values[i])) < 1e-6);
    CHECK(std::abs(quotients[i] - values[i] / Complex(1, 1)) < 1e-6);
    CHECK(std::abs(exponentials[i] - std::exp(values[i])) < 1e-5);
    CHECK(std::abs(sizes_of[i] - std::abs(values[i])) < 1e-6);
  }
  CHECK(real(z).to_vector<float>() == std::vector<float>{1, -3, 0, 2});
  CHECK(imag(z).dtype() == Dtype::Float32);
  CHECK_THROWS_AS(less(z, z), std::invalid_argument);
  CHECK_THROWS_AS(maximum(z, z), std::invalid_argument);
}

TEST_CASE("numbers beside an array take its type") {
  const array h = astype(array({1.0F, 2.0F}), Dtype::Float16);
  CHECK((h * 2.0F).dtype() == Dtype::Float16);
  CHECK((h + 1).dtype() == Dtype::Float16);
  const array i({1, 2});
  CHECK((i * 2).dtype() == Dtype::Int32);
  CHECK((i * 2.5F).dtype() == Dtype::Float32);
  CHECK((3 - i).to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 1});
  CHECK((i / 2).dtype() == Dtype::Float32);
  CHECK((i < 2).to_vector<bool>() == std::vector<bool>{true, false});
}

TEST_CASE("types are promoted as MLX promotes them") {
  CHECK(promote_types(Dtype::Bool, Dtype::UInt8) == Dtype::UInt8);
  CHECK(promote_types(Dtype::UInt8, Dtype::Int8) == Dtype::Int16);
  CHECK(promote_types(Dtype::UInt16, Dtype::Int8) == Dtype::Int32);
  CHECK(promote_types(Dtype::UInt32, Dtype::Int32) == Dtype::Int64);
  CHECK(promote_types(Dtype::UInt64, Dtype::Int64) == Dtype::Float32);
  CHECK(promote_types(Dtype::UInt8, Dtype::Int64) == Dtype::Int64);
  CHECK(promote_types(Dtype::Int64, Dtype::Float16) == Dtype::Float16);
  CHECK(promote_types(Dtype::Float16, Dtype::BFloat16) == Dtype::Float32);
  CHECK(promote_types(Dtype::Float32, Dtype::Complex64) == Dtype::Complex64);
}

TEST_CASE("types that make no sense are refused by name") {
  const array x({1.0F, 2.0F});
  CHECK_THROWS_WITH_AS(bitwise_and(x, x),
                       "[bitwise_and] elements of type float32; possible are bool and the integer "
                       "types",
                       std::invalid_argument);
  CHECK_THROWS_AS(negative(array({true, false})), std::invalid_argument);
  CHECK_THROWS_AS(left_shift(array({true}), array({true})), std::invalid_argument);
}

TEST_CASE("where, clip, round, isclose") {
  const array x({-1.5F, 0.25F, 2.5F, 9.0F});
  CHECK(where(x > 0, x, array(0.0F)).to_vector<float>() == std::vector<float>{0, 0.25F, 2.5F, 9});
  CHECK(clip(x, array(0.0F), array(3.0F)).to_vector<float>() ==
        std::vector<float>{0, 0.25F, 2.5F, 3});
  CHECK(round(x).to_vector<float>() == std::vector<float>{-2, 0, 2, 9});
  check_close(round(array({1.234F, 5.678F}), 1), {1.2, 5.7}, 2);
  CHECK(allclose(x, x + 1e-7F).item<bool>());
  CHECK(!allclose(x, x + 1.0F).item<bool>());
  CHECK(array_equal(x, x).item<bool>());
  CHECK(bitwise_invert(array({1, -2})).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{-2, 1});
}
