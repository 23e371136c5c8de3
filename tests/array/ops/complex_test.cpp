#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

using Complex = std::complex<float>;

/// Within `ulps` units in the last place of the larger part.
void check_complex(const array& result,
                   const std::vector<std::complex<double>>& expected,
                   double ulps) {
  const std::vector<Complex> got = result.to_vector<Complex>();
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CAPTURE(got[i].real());
    CAPTURE(got[i].imag());
    const double distance = std::abs(std::complex<double>(got[i]) - expected[i]);
    CHECK(distance <= ulps * 0x1p-23 * std::abs(expected[i]));
  }
}

/// Numbers around the unit circle, so that products stay near 1.
std::vector<Complex> turning(std::int64_t count, float step = 0.3F) {
  std::vector<Complex> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(std::polar(1.0F, 0.1F + step * static_cast<float>(i)));
  }
  return values;
}

template <typename Numbers, typename Function>
std::vector<std::complex<double>> each(const Numbers& values, Function function) {
  std::vector<std::complex<double>> results;
  for (const auto& value : values) {
    results.push_back(function(std::complex<double>(value)));
  }
  return results;
}

}  // namespace

TEST_CASE("imaginary parts are added up, multiplied and averaged") {
  for (const std::int64_t length : {1, 31, 33, 1025}) {
    const std::vector<Complex> values = turning(2 * length);
    std::vector<std::complex<double>> sums(2);
    std::vector<std::complex<double>> products(2, 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i / static_cast<std::size_t>(length)] += std::complex<double>(values[i]);
      products[i / static_cast<std::size_t>(length)] *= std::complex<double>(values[i]);
    }
    const array rows(values, {2, length});
    const array columns = contiguous(transpose(rows));
    const double ulps = 8 + static_cast<double>(length);
    check_complex(prod(rows, 1), products, ulps);
    check_complex(prod(columns, 0), products, ulps);
    check_complex(sum(rows, 1), sums, ulps);
    check_complex(sum(columns, 0), sums, ulps);
    check_complex(mean(rows, 1), each(sums, [&](auto z) { return z / double(length); }), ulps);
  }
}

TEST_CASE("products of complex matrices have both parts, for vectors, matrices and batches") {
  for (const std::int64_t size : {1, 5, 33}) {
    const std::int64_t inner = 7;
    const std::vector<Complex> left = turning(2 * size * inner);
    const std::vector<Complex> right = turning(2 * inner * size, 0.7F);
    std::vector<std::complex<double>> expected;
    for (std::int64_t n = 0; n < 2 * size; ++n) {
      for (std::int64_t c = 0; c < size; ++c) {
        std::complex<double> total;
        for (std::int64_t k = 0; k < inner; ++k) {
          total += std::complex<double>(left[static_cast<std::size_t>(n * inner + k)]) *
                   std::complex<double>(
                       right[static_cast<std::size_t>((n / size * inner + k) * size + c)]);
        }
        expected.push_back(total);
      }
    }
    check_complex(matmul(array(left, {2, size, inner}), array(right, {2, inner, size})), expected,
                  64);
  }
}

TEST_CASE("complex elements are moved with both parts") {
  const std::vector<Complex> values = turning(6);
  const array z(values, {3, 2});
  CHECK(take(z, array({2, 0}), 0).to_vector<Complex>() ==
        std::vector<Complex>{values[4], values[5], values[0], values[1]});
  CHECK(scatter(z, {array({1})}, array({Complex(8, 9), Complex(-8, -9)}).reshaped({1, 1, 2}), {0})
            .to_vector<Complex>() ==
        std::vector<Complex>{values[0], values[1], {8, 9}, {-8, -9}, values[4], values[5]});
  CHECK(put_along_axis(z, array({{1}}), array({{Complex(0, 5)}}), 0)
            .slice(1, 2)
            .slice(0, 1, 1)
            .item<Complex>() == Complex(0, 5));
  CHECK(concatenate({z, z}, 1).to_vector<Complex>()[2] == values[0]);
}

TEST_CASE("the modulus of what has a NaN is NaN, of what has an infinite part infinite") {
  const array z(
      std::vector<Complex>{{NAN, 1}, {1, NAN}, {NAN, INFINITY}, {-INFINITY, NAN}, {3, 4}});
  const std::vector<float> sizes_of = abs(z).to_vector<float>();
  CHECK(std::isnan(sizes_of[0]));
  CHECK(std::isnan(sizes_of[1]));
  CHECK(sizes_of[2] == INFINITY);
  CHECK(sizes_of[3] == INFINITY);
  CHECK(sizes_of[4] == 5);
}

TEST_CASE("tangents of large complex numbers do not overflow") {
  const std::vector<Complex> values = {{200, 1},   {-200, 1}, {1, 200}, {1, -200},
                                       {25, 0.5F}, {0.5F, 1}, {19, 2},  {2, 0.25F}};
  check_complex(tanh(array(values)), each(values, [](auto z) { return std::tanh(z); }), 8);
  check_complex(tan(array(values)), each(values, [](auto z) { return std::tan(z); }), 8);
  check_complex(tanh(array({Complex(INFINITY, INFINITY)})), {std::complex<double>(1, 0)}, 0);
}

TEST_CASE("functions of large complex numbers do not overflow before their results do") {
  const std::vector<Complex> waves = {{0.785F, 89.6F}, {-0.785F, -89.6F}, {1.5F, 88}, {3, -20}};
  check_complex(sin(array(waves)), each(waves, [](auto z) { return std::sin(z); }), 64);
  check_complex(cos(array(waves)), each(waves, [](auto z) { return std::cos(z); }), 64);
  const std::vector<Complex> turned = {{89.6F, 0.785F}, {-89.6F, -0.785F}, {88, 1.5F}, {-20, 3}};
  check_complex(sinh(array(turned)), each(turned, [](auto z) { return std::sinh(z); }), 64);
  check_complex(cosh(array(turned)), each(turned, [](auto z) { return std::cosh(z); }), 64);
  const std::vector<Complex> steep = {{89, 0.785F}, {-80, 2}, {88, -3}};
  check_complex(exp(array(steep)), each(steep, [](auto z) { return std::exp(z); }), 64);

  const std::vector<Complex> large = {{3e38F, 0}, {-3e38F, 1},       {3e38F, -3e38F},
                                      {0, 2e38F}, {1e-30F, -1e-30F}, {-4, 0}};
  check_complex(sqrt(array(large)), each(large, [](auto z) { return std::sqrt(z); }), 8);
  check_complex(log(array(large)), each(large, [](auto z) { return std::log(z); }), 8);
  const std::vector<Complex> near_one = {{1, 1e-30F}, {-1, -1e-12F}, {1, 1e-5F}, {0.5F, 0.25F}};
  check_complex(arctanh(array(near_one)), each(near_one, [](auto z) { return std::atanh(z); }), 8);
}

TEST_CASE("quotients of very small and very large complex numbers keep their digits") {
  const std::vector<Complex> values = {{1e-38F, 3e-38F}, {2e38F, 1e38F}, {0, -1e-38F}, {5, 1e-38F}};
  check_complex(divide(array(values), array(values)), std::vector<std::complex<double>>(4, 1), 4);
  const array far({Complex(INFINITY, 2), Complex(-3, -INFINITY)});
  check_complex(divide(array(Complex(5, -6)), far), std::vector<std::complex<double>>(2, 0), 0);
}

TEST_CASE("infinite complex numbers have the roots, angles and waves of their directions") {
  const auto check_parts = [](const array& result, float re, float im) {
    const auto got = result.item<Complex>();
    CHECK(got.real() == doctest::Approx(re));
    CHECK(got.imag() == doctest::Approx(im));
  };
  static constexpr float kInfinite = std::numeric_limits<float>::infinity();
  constexpr float kRight = 1.57079633F;
  const array up(Complex(0, kInfinite));
  const array left(Complex(-kInfinite, 1));
  const auto check_infinite = [](float part) { CHECK(part == kInfinite); };

  check_infinite(sqrt(up).item<Complex>().real());
  check_infinite(sqrt(up).item<Complex>().imag());
  check_infinite(sqrt(left).item<Complex>().imag());
  CHECK(sqrt(left).item<Complex>().real() == 0);
  CHECK(arcsin(up).item<Complex>().real() == 0);
  check_infinite(arcsin(up).item<Complex>().imag());
  CHECK(arccos(left).item<Complex>().real() == doctest::Approx(2 * kRight));
  check_infinite(arccosh(left).item<Complex>().real());
  CHECK(arccosh(left).item<Complex>().imag() == doctest::Approx(2 * kRight));
  check_parts(arctanh(up), 0, kRight);
  check_parts(arctan(left), -kRight, 0);
  check_infinite(cos(up).item<Complex>().real());
  CHECK(cos(up).item<Complex>().imag() == 0);
  check_infinite(sin(up).item<Complex>().imag());
  CHECK(sin(up).item<Complex>().real() == 0);
  check_parts(exp(array(Complex(-kInfinite, kInfinite))), 0, 0);
}

TEST_CASE("waves of complex numbers on the axes have zeros of the right sign") {
  const std::vector<Complex> axes = {{0, 1},     {-0.0F, 1}, {0, -1},     {-0.0F, -1}, {1, 0},
                                     {1, -0.0F}, {-1, 0},    {-1, -0.0F}, {-0.0F, 0},  {0, -0.0F}};
  const auto check_signs = [&](const array& result, const auto& function) {
    const auto got = result.to_vector<Complex>();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      CAPTURE(axes[i]);
      const Complex expected = function(axes[i]);
      CHECK(std::signbit(got[i].real()) == std::signbit(expected.real()));
      CHECK(std::signbit(got[i].imag()) == std::signbit(expected.imag()));
    }
    check_complex(result, each(axes, function), 8);
  };
  check_signs(sin(array(axes)), [](auto z) { return std::sin(z); });
  check_signs(cos(array(axes)), [](auto z) { return std::cos(z); });
  check_signs(tan(array(axes)), [](auto z) { return std::tan(z); });
  check_signs(sinh(array(axes)), [](auto z) { return std::sinh(z); });
  check_signs(cosh(array(axes)), [](auto z) { return std::cosh(z); });
  check_signs(tanh(array(axes)), [](auto z) { return std::tanh(z); });
}

TEST_CASE("inverse tangents of large complex numbers keep both parts") {
  const std::vector<Complex> large = {{1e30F, 0}, {-1e20F, 3e20F}, {2, 1e25F}, {3e19F, -1}};
  const auto far = array(large);
  const auto got = arctanh(far).to_vector<Complex>();
  for (std::size_t i = 0; i < large.size(); ++i) {
    const std::complex<double> z(large[i]);
    const double expected = z.real() / std::norm(z);
    CHECK(got[i].real() == doctest::Approx(expected).epsilon(1e-6));
  }
  const auto turned = arctan(array(Complex(0, 1e30F))).item<Complex>();
  CHECK(turned.imag() == doctest::Approx(1e-30).epsilon(1e-6));
}

TEST_CASE("exp(z) - 1 and log(1 + z) keep their digits near zero") {
  const std::vector<Complex> values = {{1e-6F, 0},   {0, 1e-6F}, {-1e-6F, 2e-7F}, {1e-3F, -1e-3F},
                                       {0.3F, 0.2F}, {2, 1},     {-0.5F, 3}};
  const auto minus_one = [](std::complex<double> z) {
    const double half_sine = std::sin(z.imag() / 2);
    return std::complex<double>(
        std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
        std::exp(z.real()) * std::sin(z.imag()));
  };
  const auto one_plus = [](std::complex<double> z) {
    const double excess = z.real() * (2 + z.real()) + z.imag() * z.imag();
    return std::complex<double>(std::log1p(excess) / 2, std::atan2(z.imag(), 1 + z.real()));
  };
  check_complex(expm1(array(values)), each(values, minus_one), 8);
  check_complex(log1p(array(values)), each(values, one_plus), 8);
}

TEST_CASE("running sums and products have both parts") {
  for (const std::int64_t length : sizes()) {
    const std::vector<Complex> values = turning(2 * length);
    for (const bool is_reverse : {false, true}) {
      for (const bool is_inclusive : {true, false}) {
        CAPTURE(length);
        std::vector<std::complex<double>> sums(values.size());
        std::vector<std::complex<double>> products(values.size());
        for (std::int64_t row = 0; row < 2; ++row) {
          std::complex<double> sum = 0;
          std::complex<double> product = 1;
          for (std::int64_t i = 0; i < length; ++i) {
            const auto at =
                static_cast<std::size_t>(row * length + (is_reverse ? length - 1 - i : i));
            sums[at] = is_inclusive ? sum + std::complex<double>(values[at]) : sum;
            products[at] = is_inclusive ? product * std::complex<double>(values[at]) : product;
            sum += std::complex<double>(values[at]);
            product *= std::complex<double>(values[at]);
          }
        }
        const array x(values, {2, length});
        const double most = static_cast<double>(length) + 1;
        const auto check_near = [&](const array& result, const auto& expected) {
          const std::vector<Complex> got = result.to_vector<Complex>();
          REQUIRE(got.size() == expected.size());
          for (std::size_t i = 0; i < got.size(); ++i) {
            REQUIRE(std::abs(std::complex<double>(got[i]) - expected[i]) <= 0x1p-22 * most * most);
          }
        };
        check_near(cumsum(x, 1, is_reverse, is_inclusive), sums);
        check_near(cumprod(x, 1, is_reverse, is_inclusive), products);
        const array columns = contiguous(transpose(x));
        check_near(contiguous(transpose(cumsum(columns, 0, is_reverse, is_inclusive))), sums);
      }
    }
  }
  CHECK_THROWS_AS(cummax(array(turning(2)), 0), std::invalid_argument);
}

TEST_CASE("complex numbers are ordered by their real parts, then by their imaginary ones") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const array a(std::vector<Complex>{{1, 2}, {1, 2}, {2, -5}, {1, nan}, {nan, 0}});
  const array b(std::vector<Complex>{{1, 3}, {1, 2}, {1, 9}, {2, 0}, {0, 0}});
  const auto bools = [](const array& x) { return read(x); };
  using Truths = std::vector<double>;
  CHECK(bools(less(a, b)) == Truths{1, 0, 0, 0, 0});
  CHECK(bools(less_equal(a, b)) == Truths{1, 1, 0, 0, 0});
  CHECK(bools(greater(a, b)) == Truths{0, 0, 1, 0, 0});
  CHECK(bools(greater_equal(a, b)) == Truths{0, 1, 1, 0, 0});
  const auto high = maximum(a, b).to_vector<Complex>();
  const auto low = minimum(b, a).to_vector<Complex>();
  CHECK(std::vector<Complex>(high.begin(), high.begin() + 3) ==
        std::vector<Complex>{{1, 3}, {1, 2}, {2, -5}});
  CHECK(std::vector<Complex>(low.begin(), low.begin() + 3) ==
        std::vector<Complex>{{1, 2}, {1, 2}, {1, 9}});
  for (const std::size_t i : {3, 4}) {
    CHECK((std::isnan(high[i].real()) || std::isnan(high[i].imag())));
    CHECK((std::isnan(low[i].real()) || std::isnan(low[i].imag())));
  }
}

TEST_CASE("powers of a complex zero are 0, 1 or not a number") {
  const array zero = zeros({4}, Dtype::Complex64);
  const array exponents(std::vector<Complex>{{2, 1}, {0, 0}, {-1, 0}, {0, 1}});
  const auto got = power(zero, exponents).to_vector<Complex>();
  CHECK(got[0] == Complex(0));
  CHECK(got[1] == Complex(1));
  CHECK(std::isnan(got[2].real()));
  CHECK(std::isnan(got[3].real()));
}

TEST_CASE("inverse functions of complex numbers are those of C++ on both sides of their cuts") {
  std::vector<Complex> values;
  for (const float re : {-30.0F, -2.0F, -1.0F, -0.3F, 0.0F, 1e-4F, 0.5F, 1.0F, 3.0F, 1000.0F}) {
    for (const float im : {-20.0F, -1.5F, -1e-3F, -0.0F, 0.0F, 1e-3F, 0.7F, 9.0F}) {
      values.emplace_back(re, im);
    }
  }
  using Wide = std::complex<double>;
  struct Row {
    const char* name;
    array (*function)(const array&, StreamOrDevice);
    Wide (*expected)(const Wide&);
  };
  for (const Row& row :
       {Row{"arcsin", arcsin, std::asin}, Row{"arccos", arccos, std::acos},
        Row{"arctan", arctan, std::atan}, Row{"arcsinh", arcsinh, std::asinh},
        Row{"arccosh", arccosh, std::acosh}, Row{"arctanh", arctanh, std::atanh}}) {
    const auto got = row.function(array(values), {}).to_vector<Complex>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Wide expected = row.expected(Wide(values[i]));
      if (!std::isfinite(expected.real()) || !std::isfinite(expected.imag())) {
        continue;
      }
      CAPTURE(row.name);
      CAPTURE(values[i].real());
      CAPTURE(values[i].imag());
      CAPTURE(got[i].real());
      CAPTURE(got[i].imag());
      CHECK(std::abs(Wide(got[i]) - expected) <= 1e-6 * (1e-4 + std::abs(expected)));
    }
  }
}
