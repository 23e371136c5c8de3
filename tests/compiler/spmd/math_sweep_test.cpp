#include <cmath>

#include "tests/compiler/spmd/shared_code.h"
#include "tests/compiler/stdlib/elementwise.h"

// Mathematical functions over thousands of arguments, with lanes left out, against double.

namespace pewter {
namespace {

using test::Gpu;
using test::size;
using test::uint;

constexpr std::size_t kPoints = 4099;

/// A function of x, where it is defined, and MSL's bound for it.
struct Sweep {
  const char* expression;
  double (*reference)(double);
  double low;
  double high;
  double ulps;
  /// Arguments spread by magnitude rather than evenly.
  bool geometric = false;
};

const double kPi = 3.14159265358979323846;

double sin_pi(double x) {
  return std::sin(kPi * std::remainder(x, 2));
}
double cos_pi(double x) {
  return std::cos(kPi * std::remainder(x, 2));
}

const std::vector<std::vector<Sweep>>& tables() {
  static const std::vector<std::vector<Sweep>> all = {
      {
          {"precise::exp(x)", [](double x) { return std::exp(x); }, -87, 88, 4},
          {"precise::exp2(x)", [](double x) { return std::exp2(x); }, -125, 127, 4},
          {"precise::exp10(x)", [](double x) { return std::pow(10, x); }, -37, 38, 4},
          {"log(x)", [](double x) { return std::log(x); }, 1e-37, 1e38, 4, true},
          {"log(x)", [](double x) { return std::log(x); }, 0.5, 2, 4},
          {"log2(x)", [](double x) { return std::log2(x); }, 1e-37, 1e38, 4, true},
          {"log10(x)", [](double x) { return std::log10(x); }, 1e-37, 1e38, 4, true},
          {"sqrt(x)", [](double x) { return std::sqrt(x); }, 1e-37, 1e38, 0.5, true},
          {"rsqrt(x)", [](double x) { return 1 / std::sqrt(x); }, 1e-37, 1e38, 2, true},
      },
      {
          {"sin(x)", [](double x) { return std::sin(x); }, -100, 100, 4},
          {"sin(x)", [](double x) { return std::sin(x); }, 1e-20, 1e5, 4, true},
          {"cos(x)", [](double x) { return std::cos(x); }, -100, 100, 4},
          {"cos(x)", [](double x) { return std::cos(x); }, 1e-20, 1e5, 4, true},
          {"tan(x)", [](double x) { return std::tan(x); }, -100, 100, 6},
          {"sinpi(x)", sin_pi, -9.9, 10.1, 4},
          {"cospi(x)", cos_pi, -9.9, 10.1, 4},
          {"tanpi(x)", [](double x) { return sin_pi(x) / cos_pi(x); }, -0.49, 0.49, 6},
      },
      {
          {"sinh(x)", [](double x) { return std::sinh(x); }, -88, 88, 4},
          {"cosh(x)", [](double x) { return std::cosh(x); }, -88, 88, 4},
          {"tanh(x)", [](double x) { return std::tanh(x); }, -10, 10, 5},
          {"tanh(x)", [](double x) { return std::tanh(x); }, 1e-20, 50, 5, true},
          {"asinh(x)", [](double x) { return std::asinh(x); }, -100, 100, 4},
          {"acosh(x)", [](double x) { return std::acosh(x); }, 1, 1e30, 4, true},
          {"atanh(x)", [](double x) { return std::atanh(x); }, -0.9999, 0.9999, 5},
      },
      {
          {"asin(x)", [](double x) { return std::asin(x); }, -1, 1, 4},
          {"acos(x)", [](double x) { return std::acos(x); }, -1, 1, 4},
          {"atan(x)", [](double x) { return std::atan(x); }, -50, 50, 5},
          {"atan2(x, 2.5f)", [](double x) { return std::atan2(x, 2.5); }, -1000, 1000, 6},
          {"atan2(x, -2.5f)", [](double x) { return std::atan2(x, -2.5); }, -1000, 1000, 6},
          {"pow(x, 2.75f)", [](double x) { return std::pow(x, 2.75); }, 1e-10, 1e10, 16, true},
          {"pow(1.5f, x)", [](double x) { return std::pow(1.5, x); }, -200, 200, 16},
          {"powr(x, 0.3f)", [](double x) { return std::pow(x, double{0.3F}); }, 1e-10, 1e10, 16,
           true},
          {"fmod(x, 1.75f)", [](double x) { return std::fmod(x, 1.75); }, -1000, 1000, 0},
          {"(1.0f / x)", [](double x) { return 1 / x; }, 1e-30, 1e30, 0.5, true},
          {"(x / 3.7f)", [](double x) { return x / double{3.7F}; }, -1e6, 1e6, 0.5},
          {"fma(x, x, 0.1f)", [](double x) { return std::fma(x, x, double{0.1F}); }, -100, 100,
           0.5},
          {"fract(x)", [](double x) { return x - std::floor(x); }, 0.1, 1000, 0.5},
          {"round(x)", [](double x) { return std::round(x); }, -100, 100, 0},
          {"rint(x)", [](double x) { return std::nearbyint(x); }, -100, 100, 0},
      },
  };
  return all;
}

float argument(const Sweep& sweep, std::size_t point) {
  const double t = static_cast<double>(point) / (kPoints - 1);
  const double x = sweep.geometric ? sweep.low * std::pow(sweep.high / sweep.low, t)
                                   : sweep.low + (sweep.high - sweep.low) * t;
  // Rounding to float must not leave the range.
  return static_cast<float>(std::min(std::max(x, sweep.low), sweep.high));
}

void check_sweeps(const std::vector<Sweep>& sweeps) {
  const Gpu gpu;
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],\n"
      "              uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {\n"
      "  if (i % 7u == 3u) return;\n  float x;\n";
  std::vector<float> in;
  for (std::size_t row = 0; row < sweeps.size(); ++row) {
    const std::string at = std::to_string(row) + "u * n + i";
    source += "  x = in[" + at + "]; out[" + at + "] = " + sweeps[row].expression + ";\n";
    for (std::size_t point = 0; point < kPoints; ++point) {
      in.push_back(argument(sweeps[row], point));
    }
  }
  source += "}\n";
  std::vector<float> out(in.size(), 12345.0F);
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMathMode(MTL::MathModeSafe);
  const auto pipeline = gpu.pipeline(gpu.library(source, options.get()).get(), "f");

  gpu.run(pipeline.get(), {.grid = size(kPoints), .group = size(96)}, in, out);

  for (std::size_t row = 0; row < sweeps.size(); ++row) {
    double worst = 0;
    float worst_x = 0;
    for (std::size_t point = 0; point < kPoints; ++point) {
      const std::size_t at = row * kPoints + point;
      if (point % 7 == 3) {
        REQUIRE(out[at] == 12345.0F);
        continue;
      }
      const double error = test::ulp_error(out[at], sweeps[row].reference(in[at]));
      if (error > worst) {
        worst = error;
        worst_x = in[at];
      }
    }
    CHECK_MESSAGE(worst <= sweeps[row].ulps, std::string(sweeps[row].expression), " is ", worst,
                  " ulp off at ", worst_x);
  }
}

}  // namespace

TEST_CASE("exponentials, logarithms and roots stay within their bounds") {
  check_sweeps(tables()[0]);
}

TEST_CASE("trigonometric functions stay within their bounds") {
  check_sweeps(tables()[1]);
}

TEST_CASE("hyperbolic functions stay within their bounds") {
  check_sweeps(tables()[2]);
}

TEST_CASE("inverse functions, powers and quotients stay within their bounds") {
  check_sweeps(tables()[3]);
}

}  // namespace pewter
