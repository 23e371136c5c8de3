#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

/// Unsigned types cannot hold what is below zero.
double lowest(double low, Dtype dtype) {
  return is_unsigned(dtype) ? std::max(low, 0.0) : low;
}

}  // namespace

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
  check_close(log1p(array({-1.0F, -0.5F})), {-inf, std::log(0.5)}, 4);
  check_close(erf(x), {NAN, 1, -1, 0, std::erf(1.0)}, 4);
  check_close(nan_to_num(x), {0, 3.4028234663852886e38, -3.4028234663852886e38, 0, 1}, 0);
}

TEST_CASE("halves and complex numbers know what is no finite number") {
  using Truths = std::vector<bool>;
  const array x({NAN, INFINITY, -INFINITY, 0.5F});
  for (const Dtype dtype : {Dtype::Float16, Dtype::BFloat16}) {
    const array half = astype(x, dtype);
    CHECK(isnan(half).to_vector<bool>() == Truths{true, false, false, false});
    CHECK(isinf(half).to_vector<bool>() == Truths{false, true, true, false});
    CHECK(isneginf(half).to_vector<bool>() == Truths{false, false, true, false});
    CHECK(isposinf(half).to_vector<bool>() == Truths{false, true, false, false});
    CHECK(isfinite(half).to_vector<bool>() == Truths{false, false, false, true});
  }
  const array z(std::vector<std::complex<float>>{{NAN, 1}, {1, NAN}, {1, INFINITY}, {1, 2}});
  CHECK(isnan(z).to_vector<bool>() == Truths{true, true, false, false});
  CHECK(isinf(z).to_vector<bool>() == Truths{false, false, true, false});
  CHECK(isfinite(z).to_vector<bool>() == Truths{false, false, false, true});
}

TEST_CASE_TEMPLATE("integers of 64 bits are exact over their whole range",
                   T,
                   std::int64_t,
                   std::uint64_t) {
  const std::vector<T> a = {(T(1) << 53U) + 1, std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::min(), T(-1), T(12345678901234567)};
  const std::vector<T> b = {3, (T(1) << 62U) + 1, 7, T(98765432109), T(-5)};
  const auto check = [&](array (*function)(const array&, const array&, StreamOrDevice),
                         auto reference) {
    using Result = decltype(reference(T(), T()));
    std::vector<Result> expected;
    for (std::size_t i = 0; i < a.size(); ++i) {
      expected.push_back(reference(a[i], b[i]));
    }
    CHECK(function(array(a), array(b), {}).template to_vector<Result>() == expected);
  };
  using Bits = std::uint64_t;
  check(add, [](T x, T y) { return static_cast<T>(Bits(x) + Bits(y)); });
  check(subtract, [](T x, T y) { return static_cast<T>(Bits(x) - Bits(y)); });
  check(multiply, [](T x, T y) { return static_cast<T>(Bits(x) * Bits(y)); });
  check(bitwise_xor, [](T x, T y) { return static_cast<T>(x ^ y); });
  check(maximum, [](T x, T y) { return std::max(x, y); });
  check(greater, [](T x, T y) { return x > y; });
  check(floor_divide, [](T x, T y) {
    return static_cast<T>(x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0));
  });
  check(remainder, [](T x, T y) {
    return static_cast<T>(x % y + (x % y != 0 && (x < 0) != (y < 0) ? y : 0));
  });
}

TEST_CASE_TEMPLATE("bits are shifted by every count, modulo the width",
                   T,
                   std::uint8_t,
                   std::int8_t,
                   std::uint16_t,
                   std::int16_t,
                   std::uint32_t,
                   std::int32_t,
                   std::uint64_t,
                   std::int64_t) {
  constexpr int kWidth = 8 * sizeof(T);
  std::vector<T> numbers;
  std::vector<T> counts;
  std::vector<T> left;
  std::vector<T> right;
  for (const T number : {T(-100), T(93), std::numeric_limits<T>::min()}) {
    for (int count = 0; count < kWidth + 3; ++count) {
      numbers.push_back(number);
      counts.push_back(static_cast<T>(count));
      const int shift = count % kWidth;
      left.push_back(static_cast<T>(static_cast<std::uint64_t>(number) << shift));
      right.push_back(static_cast<T>(number >> shift));
    }
  }
  CHECK(left_shift(array(numbers), array(counts)).template to_vector<T>() == left);
  CHECK(right_shift(array(numbers), array(counts)).template to_vector<T>() == right);
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

TEST_CASE("a floating-point quotient is rounded downward before it is rounded, as its rest is") {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<double> quotients;
  for (int i = -1009; i <= 1009; ++i) {
    for (const float divisor : {0.1F, -0.1F, 3.0F, 0.7F, -1e-3F}) {
      a.push_back(static_cast<float>(i) * 0.1F);
      b.push_back(divisor);
      // Exact: all of it has at most 48 bits.
      const auto x = static_cast<double>(a.back());
      const auto y = static_cast<double>(divisor);
      const double rest = std::fmod(x, y);
      const bool is_on_other_side = rest != 0 && (rest < 0) != (y < 0);
      quotients.push_back((x - rest) / y - (is_on_other_side ? 1 : 0));
    }
  }
  const std::vector<array> parts = divmod(array(a), array(b));

  check_close(parts[0], quotients, 0);
  const std::vector<float> rests = parts[1].to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double back = quotients[i] * static_cast<double>(b[i]) + static_cast<double>(rests[i]);
    REQUIRE(std::abs(back - static_cast<double>(a[i])) <= 1e-7 * std::abs(b[i]));
  }
  CHECK(floor_divide(array(1.0F), array(0.1F)).item<float>() == 9);
}

TEST_CASE("a remainder of zero has the divisor's sign") {
  const array a({0.0F, -0.0F, 0.0F, -0.0F, 6.0F, -6.0F, 1.0F, -1.0F});
  const array b({-1.0F, 1.0F, 1.0F, -1.0F, -2.0F, 2.0F, -INFINITY, INFINITY});
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16}) {
    const array rests = remainder(astype(a, dtype), astype(b, dtype));
    const auto got = astype(rests, Dtype::Float32).to_vector<float>();

    check_close(rests, {0, 0, 0, 0, 0, 0, -INFINITY, INFINITY}, 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(std::signbit(got[i]) == std::signbit(b.to_vector<float>()[i]));
    }
  }
}

TEST_CASE("quotients of zeros and infinities are NumPy's") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const array a({1.0F, -1.0F, -1.0F, 1.0F, 0.0F, -2.0F, kInfinity});
  const array b({kInfinity, kInfinity, -kInfinity, -kInfinity, -kInfinity, 0.0F, 0.0F});
  CHECK(floor_divide(a, b).to_vector<float>() ==
        std::vector<float>{0, -1, 0, -1, 0, -kInfinity, kInfinity});
  for (const float divisor : {3.0F, -3.0F, kInfinity}) {
    CHECK(std::isnan(floor_divide(array(kInfinity), array(divisor)).item<float>()));
  }
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

TEST_CASE("more axes than kernels run over are refused at the call") {
  const array x = reshape(arange(1 << 9), Shape(9, 2));
  CHECK((x + x).to_vector<std::int32_t>()[511] == 1022);
  CHECK_THROWS_WITH_AS(x + transpose(x),
                       "[add] the shape [2, 2, 2, 2, 2, 2, 2, 2, 2] has 9 axes that cannot be "
                       "joined; 8 are possible",
                       std::invalid_argument);
}

TEST_CASE("operations that together have more axes than a kernel runs over are computed apart") {
  const array x = reshape(arange(1 << 9), Shape(9, 2));
  const array first = transpose(x, {1, 0, 3, 2, 4, 5, 6, 7, 8});
  const array last = transpose(x, {0, 1, 2, 3, 4, 6, 5, 8, 7});
  const array a = negative(first);
  const array b = negative(last);
  a.eval();
  b.eval();
  CHECK((negative(first) - negative(last)).to_vector<std::int32_t>() ==
        (a - b).to_vector<std::int32_t>());
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
  CHECK_THROWS_AS(floor(z), std::invalid_argument);
  CHECK_THROWS_AS(remainder(z, z), std::invalid_argument);
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

TEST_CASE("whole numbers wrap around to the type of the array beside them") {
  using Bytes = std::vector<std::uint8_t>;
  const array x(Bytes{5, 200});
  CHECK((x + -1).to_vector<std::uint8_t>() == Bytes{4, 199});
  CHECK((x * -1).to_vector<std::uint8_t>() == Bytes{251, 56});
  CHECK((300 + x).to_vector<std::uint8_t>() == Bytes{49, 244});

  const array ends(Bytes{0, 255});
  CHECK((ends == -1).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK((ends == 256).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK((ends > -2).to_vector<bool>() == std::vector<bool>{false, true});
}

TEST_CASE("whole numbers beside arrays of 64 bits keep every digit") {
  const array signed_zero(std::vector<std::int64_t>{0});
  const array unsigned_zero(std::vector<std::uint64_t>{0});
  CHECK((signed_zero + 9007199254740993LL).item<std::int64_t>() == 9007199254740993LL);
  CHECK((signed_zero + INT64_MIN).item<std::int64_t>() == INT64_MIN);
  CHECK((unsigned_zero | 0x8000000000000001ULL).item<std::uint64_t>() == 0x8000000000000001ULL);
}

TEST_CASE("numbers that the type of an array cannot hold choose one that can") {
  const array truths({true, false});
  CHECK((truths + 1).dtype() == Dtype::Int32);
  CHECK((truths + 5000000000LL).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{5000000001LL, 5000000000LL});
  CHECK((truths & true).dtype() == Dtype::Bool);
  CHECK((array({1, 2}) * std::complex<float>(0, 1)).to_vector<std::complex<float>>() ==
        std::vector<std::complex<float>>{{0, 1}, {0, 2}});
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
