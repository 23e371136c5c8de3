#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cmath>
#include <complex>
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

template <typename Function>
std::vector<std::complex<double>> each(const std::vector<Complex>& values, Function function) {
  std::vector<std::complex<double>> results;
  for (const Complex& value : values) {
    results.push_back(function(std::complex<double>(value)));
  }
  return results;
}

}  // namespace

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
