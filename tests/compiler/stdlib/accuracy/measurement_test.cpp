#include "tests/compiler/stdlib/accuracy/measurement.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace pewter {
namespace {

using test::kBfloat;
using test::kFloat;
using test::kHalf;
using test::Measurement;

Measurement measure_one(const std::string& name, double argument, double got) {
  const test::MathFunction& function = test::math_function(name);
  const std::vector<double> arguments = {argument};
  const std::vector<float> results = {static_cast<float>(got)};
  const std::vector<double> wanted = {function.wanted(argument, kFloat)};
  return measure(function, kFloat, arguments, results, wanted);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("numbers are rounded to the nearest of a format, ties to even") {
  CHECK(kHalf.rounded(2049) == 2048);
  CHECK(kHalf.rounded(2051) == 2052);
  CHECK(kHalf.rounded(65519.9) == 65504);
  CHECK(kHalf.rounded(-65520) == -kInfinity);
  CHECK(kHalf.rounded(0x1p-25) == 0);
  CHECK(kHalf.rounded(0x1.8p-25) == 0x1p-24);
  CHECK(kBfloat.rounded(257) == 256);
  CHECK(kFloat.rounded(16777217) == 16777216);
  CHECK(std::signbit(kFloat.rounded(-1e-60)));
}

TEST_CASE("patterns of bits are the numbers of a format") {
  CHECK(kHalf.value(0x3c00) == 1);
  CHECK(kHalf.value(0x8001) == -0x1p-24);
  CHECK(kHalf.value(0x7bff) == 65504);
  CHECK(kHalf.value(0xfc00) == -kInfinity);
  CHECK(std::isnan(kHalf.value(0x7e00)));
  CHECK(kBfloat.value(0x3f80) == 1);
  CHECK(kFloat.value(0x40490fdb) == 3.14159274101257324);
}

TEST_CASE("errors are counted in units of the last place") {
  CHECK(test::ulp_error(1, 1) == 0);
  CHECK(test::ulp_error(1 + 0x1p-22, 1 + 0x1p-24) == 1.5);
  CHECK(test::ulp_error(0x1p-149, 0x1p-148) == 1);
  CHECK(test::ulp_error(1.0, 1 + 0x1p-11, kHalf) == 0.5);
  CHECK(test::ulp_error(NAN, NAN) == 0);
  CHECK(test::ulp_error(NAN, 1) == kInfinity);
  CHECK(test::ulp_error(1, kInfinity) == kInfinity);
  CHECK(test::ulp_error(kInfinity, 0x1.fffffep127) == 1);
  CHECK(test::ulp_error(kInfinity, 1e60) == 0);
  CHECK(test::ulp_error(-kInfinity, 1e60) > 1e20);
}

TEST_CASE("results beyond a bound are noticed, and those within it are not") {
  const double e = std::exp(1.0);

  CHECK(measure_one("exp", 1, e).is_right());
  CHECK(measure_one("exp", 1, e + 3 * 0x1p-22).is_right());
  CHECK(measure_one("exp", 1, e + 6 * 0x1p-22).beyond_bound == 1);
  CHECK(measure_one("fast::exp", 1, e + 4 * 0x1p-22).is_right());
  CHECK(measure_one("fast::exp", 1, e + 6 * 0x1p-22).beyond_fast_bound == 1);
  CHECK(measure_one("fast::exp", 1, NAN).beyond_bound == 1);
  CHECK(measure_one("fast::exp", -90, 0).is_right());
  CHECK(measure_one("exp", 1, NAN).beyond_bound == 1);
  CHECK(measure_one("exp", NAN, 1).beyond_bound == 1);
  // Four units suffice for a precise function, two are asked of a fast one.
  CHECK(measure_one("log2", 3, std::log2(3.0) + 3 * 0x1p-23).beyond_bound == 0);
  CHECK(measure_one("log2", 3, std::log2(3.0) + 3 * 0x1p-23).beyond_fast_bound == 1);
}

TEST_CASE("a result that is not the nearest number is noticed where it has to be") {
  const auto nearest = static_cast<float>(1 / std::sqrt(3.0));

  CHECK(measure_one("rsqrt", 3, nearest).is_right());
  CHECK(measure_one("rsqrt", 3, std::nextafter(nearest, 0.0F)).beyond_bound == 1);
  CHECK(measure_one("rsqrt", 3, std::nextafter(nearest, 1.0F)).beyond_bound == 1);
  CHECK(measure_one("fract", -1e-9, 0x1.fffffep-1).is_right());
  CHECK(measure_one("fract", -1e-9, 1).beyond_bound == 1);
}

TEST_CASE("zeros of the wrong sign are noticed") {
  CHECK(measure_one("sin", -0.0, -0.0).is_right());
  CHECK(measure_one("sin", -0.0, 0.0).wrong_zeros == 1);
  CHECK(measure_one("trunc", -0.5, 0.0).wrong_zeros == 1);
}

TEST_CASE("measurements of two parts are those of both") {
  Measurement both = measure_one("exp", 1, std::exp(1.0));
  both.add(measure_one("exp", 2, 0));

  CHECK(both.inputs == 2);
  CHECK(both.beyond_bound == 1);
  CHECK(both.wrong_input == 2);
  CHECK(both.worst_input == 2);
}

}  // namespace pewter
