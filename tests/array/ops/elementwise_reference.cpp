#include "tests/array/ops/elementwise_reference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace pewter::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double truth(bool value) {
  return value ? 1 : 0;
}

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value);
}

double inverse_erf(double a) {
  if (std::abs(a) == 1) {
    return a * kInfinity;
  }
  // Newton's iteration.
  double x = 0;
  for (int i = 0; i < 60; ++i) {
    x -= (std::erf(x) - a) / (2 / std::sqrt(std::acos(-1.0)) * std::exp(-x * x));
  }
  return x;
}

double sign_of(double a) {
  return a > 0 ? 1 : a < 0 ? -1 : 0;
}

Complex direction(Complex a) {
  return a == Complex() ? a : a / std::abs(a);
}

bool is_less(Complex a, Complex b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

Complex bool_of(bool value) {
  return value ? 1 : 0;
}

// The bodies of functions of one and two doubles or complex numbers.
#define REAL(body) [](double a, [[maybe_unused]] double b) -> double { return body; }
#define COMPLEX(body) [](Complex a, [[maybe_unused]] Complex b) -> Complex { return body; }
#define CONSTANT(value) [](double, double) -> double { return value; }
#define COMPLEX_CONSTANT(value) [](Complex, Complex) -> Complex { return value; }

const ElementwiseReference kRows[] = {
    {"abs", REAL(std::abs(a)), COMPLEX(std::abs(a)), -100, 100, 4},
    {"arccos", REAL(std::acos(a)), COMPLEX(std::acos(a)), -0.99, 0.99, 8},
    {"arccosh", REAL(std::acosh(a)), COMPLEX(std::acosh(a)), 1.1, 100, 8},
    {"arcsin", REAL(std::asin(a)), COMPLEX(std::asin(a)), -1, 1, 8},
    {"arcsinh", REAL(std::asinh(a)), COMPLEX(std::asinh(a)), -100, 100, 8},
    {"arctan", REAL(std::atan(a)), COMPLEX(std::atan(a)), -100, 100, 8},
    {"arctanh", REAL(std::atanh(a)), COMPLEX(std::atanh(a)), -0.99, 0.99, 8},
    {"bitwise_invert", REAL(static_cast<double>(~whole(a))), nullptr, -100, 100, 0},
    {"ceil", REAL(std::ceil(a)), nullptr, -100, 100, 0},
    {"conjugate", REAL(a), COMPLEX(std::conj(a)), -100, 100, 0},
    {"cos", REAL(std::cos(a)), COMPLEX(std::cos(a)), -1.5, 1.5, 8},
    {"cosh", REAL(std::cosh(a)), COMPLEX(std::cosh(a)), -5, 5, 8},
    {"degrees", REAL(a * 57.295779513082323), COMPLEX(a * 57.295779513082323), -10, 10, 2},
    {"erf", REAL(std::erf(a)), nullptr, -4, 4, 4},
    {"erfinv", REAL(inverse_erf(a)), nullptr, -0.99, 0.99, 16},
    {"exp", REAL(std::exp(a)), COMPLEX(std::exp(a)), -8, 8, 8},
    {"expm1", REAL(std::expm1(a)), COMPLEX(std::exp(a) - 1.0), -8, 8, 8},
    {"floor", REAL(std::floor(a)), nullptr, -100, 100, 0},
    {"imag", CONSTANT(0), COMPLEX(a.imag()), -100, 100, 0},
    {"isfinite", CONSTANT(1), COMPLEX_CONSTANT(1), -100, 100, 0},
    {"isinf", CONSTANT(0), COMPLEX_CONSTANT(0), -100, 100, 0},
    {"isnan", CONSTANT(0), COMPLEX_CONSTANT(0), -100, 100, 0},
    {"isneginf", CONSTANT(0), nullptr, -100, 100, 0},
    {"isposinf", CONSTANT(0), nullptr, -100, 100, 0},
    {"log", REAL(std::log(a)), COMPLEX(std::log(a)), 2, 100, 8},
    {"log10", REAL(std::log10(a)), COMPLEX(std::log10(a)), 2, 100, 8},
    {"log1p", REAL(std::log1p(a)), COMPLEX(std::log(1.0 + a)), -0.9, 100, 8},
    {"log2", REAL(std::log2(a)), COMPLEX(std::log(a) / std::log(2.0)), 2, 100, 8},
    {"logical_not", REAL(truth(a == 0)), COMPLEX(bool_of(a == Complex())), -2, 2, 0},
    {"negative", REAL(-a), COMPLEX(-a), -100, 100, 0},
    {"positive", REAL(a), COMPLEX(a), -100, 100, 0},
    {"radians", REAL(a * 0.017453292519943295), COMPLEX(a * 0.017453292519943295), -100, 100, 2},
    {"real", REAL(a), COMPLEX(a.real()), -100, 100, 0},
    {"reciprocal", REAL(1 / a), COMPLEX(1.0 / a), 1, 100, 4},
    {"rint", REAL(std::nearbyint(a)), nullptr, -100, 100, 0},
    {"rsqrt", REAL(1 / std::sqrt(a)), COMPLEX(1.0 / std::sqrt(a)), 1, 100, 8},
    {"sigmoid", REAL(1 / (1 + std::exp(-a))), nullptr, -8, 8, 8},
    {"sign", REAL(sign_of(a)), COMPLEX(direction(a)), -3, 3, 2},
    {"sin", REAL(std::sin(a)), COMPLEX(std::sin(a)), -1.5, 1.5, 8},
    {"sinh", REAL(std::sinh(a)), COMPLEX(std::sinh(a)), -5, 5, 8},
    {"sqrt", REAL(std::sqrt(a)), COMPLEX(std::sqrt(a)), 0, 100, 4},
    {"square", REAL(a* a), COMPLEX(a* a), -11, 11, 2},
    {"tan", REAL(std::tan(a)), COMPLEX(std::tan(a)), -1.4, 1.4, 8},
    {"tanh", REAL(std::tanh(a)), COMPLEX(std::tanh(a)), -4, 4, 8},
    {"trunc", REAL(std::trunc(a)), nullptr, -100, 100, 0},

    {"add", REAL(a + b), COMPLEX(a + b), -60, 60, 1},
    {"arctan2", REAL(std::atan2(a, b)), nullptr, -100, 100, 8},
    {"bitwise_and", REAL(static_cast<double>(whole(a) & whole(b))), nullptr, -60, 60, 0},
    {"bitwise_or", REAL(static_cast<double>(whole(a) | whole(b))), nullptr, -60, 60, 0},
    {"bitwise_xor", REAL(static_cast<double>(whole(a) ^ whole(b))), nullptr, -60, 60, 0},
    {"divide", REAL(a / b), COMPLEX(a / b), 1, 100, 4},
    {"equal", REAL(truth(a == b)), COMPLEX(bool_of(a == b)), 0, 3, 0},
    {"floor_divide", REAL(b == 0 ? 0 : std::floor(a / b)), nullptr, -90, 90, 1},
    {"greater", REAL(truth(a > b)), COMPLEX(bool_of(is_less(b, a))), 0, 3, 0},
    {"greater_equal", REAL(truth(a >= b)), COMPLEX(bool_of(!is_less(a, b))), 0, 3, 0},
    {"left_shift", REAL(static_cast<double>(whole(a) << whole(b))), nullptr, 0, 7, 0},
    {"less", REAL(truth(a < b)), COMPLEX(bool_of(is_less(a, b))), 0, 3, 0},
    {"less_equal", REAL(truth(a <= b)), COMPLEX(bool_of(!is_less(b, a))), 0, 3, 0},
    {"logaddexp", REAL(std::log(std::exp(a) + std::exp(b))),
     COMPLEX(std::log(std::exp(a) + std::exp(b))), 0, 60, 8},
    {"logical_and", REAL(truth(a != 0 && b != 0)),
     COMPLEX(bool_of(a != Complex() && b != Complex())), 0, 2, 0},
    {"logical_or", REAL(truth(a != 0 || b != 0)),
     COMPLEX(bool_of(a != Complex() || b != Complex())), 0, 2, 0},
    {"logical_xor", REAL(truth((a != 0) != (b != 0))),
     COMPLEX(bool_of((a != Complex()) != (b != Complex()))), 0, 2, 0},
    {"maximum", REAL(std::max(a, b)), COMPLEX(is_less(a, b) ? b : a), -100, 100, 0},
    {"minimum", REAL(std::min(a, b)), COMPLEX(is_less(b, a) ? b : a), -100, 100, 0},
    {"multiply", REAL(a* b), COMPLEX(a* b), -11, 11, 2},
    {"not_equal", REAL(truth(a != b)), COMPLEX(bool_of(a != b)), 0, 3, 0},
    {"power", REAL(std::pow(a, b)), COMPLEX(std::pow(a, b)), -2.9, 2.9, 32},
    {"remainder", REAL(b == 0 ? 0 : a - b * std::floor(a / b)), nullptr, -100, 100, 4},
    {"right_shift", REAL(static_cast<double>(whole(a) >> whole(b))), nullptr, 0, 7, 0},
    {"subtract", REAL(a - b), COMPLEX(a - b), -60, 60, 1},
};

#undef REAL
#undef COMPLEX
#undef CONSTANT
#undef COMPLEX_CONSTANT

}  // namespace

const ElementwiseReference* elementwise_reference(const char* name) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](const auto& row) {
    return std::string_view(row.name) == name;
  });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace pewter::test
