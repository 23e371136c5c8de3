#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

/// Tables of functions: each row is an MSL expression in x, y, z and the same function in double.
namespace pewter::test {

struct Row {
  const char* expression;
  std::function<double(double, double, double)> reference;
  /// Largest error in units of the last place of float.
  double ulps = 4;
  /// Inputs outside are left out: the function is not defined there.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Inputs that straddle edges: zeros, ones, halves, tiny, large, infinite, and odd values between.
inline std::vector<float> awkward_floats() {
  const float infinity = std::numeric_limits<float>::infinity();
  return {0.0F,  -0.0F,  1.0F,  -1.0F,  0.5F,   -0.5F,  1.5F,      -1.5F,  2.5F,     -2.5F,
          1e-3F, -1e-3F, 0.1F,  0.3F,   -0.7F,  0.999F, 3.14159F,  -3.0F,  7.25F,    -10.125F,
          20.0F, 63.5F,  88.0F, -87.0F, 100.0F, 1e4F,   -12345.7F, 1e-20F, infinity, -infinity};
}

/// The distance of `got` from `wanted` in units of float's last place at `wanted`; 0 when both are
/// NaN or equal.
inline double ulp_error(float got, double wanted) {
  if (std::isnan(wanted)) {
    return std::isnan(got) ? 0 : 1e9;
  }
  const float rounded = static_cast<float>(wanted);
  if (got == rounded || (std::isinf(rounded) && got == rounded)) {
    return 0;
  }
  if (std::isinf(rounded) || std::isinf(got) || std::isnan(got)) {
    return 1e9;
  }
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(static_cast<double>(got) - wanted) / unit;
}

/// Runs every row of a table over all pairs of awkward inputs, in one kernel, and checks the
/// results.
inline void check_table(const std::vector<Row>& rows) {
  const Gpu gpu;
  std::vector<float> x;
  std::vector<float> y;
  for (const float first : awkward_floats()) {
    for (const float second : {0.5F, 2.0F, -3.0F, 0.0F, 1.25F}) {
      x.push_back(first);
      y.push_back(second);
    }
  }
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device const float* xs [[buffer(0)]], device const float* ys [[buffer(1)]],\n"
      "              device float* out [[buffer(2)]], uint i [[thread_position_in_grid]],\n"
      "              uint n [[threads_per_grid]]) {\n"
      "  const float x = xs[i], y = ys[i], z = 0.75f;\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    source += "  out[" + std::to_string(row) + " * n + i] = " + rows[row].expression + ";\n";
  }
  source += "}\n";
  std::vector<float> out(rows.size() * x.size());

  gpu.run(source, "f", {.grid = size(x.size())}, x, y, out);

  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t index = 0; index < x.size(); ++index) {
      if (x[index] < rows[row].low || x[index] > rows[row].high) {
        continue;
      }
      const float got = out[row * x.size() + index];
      const double wanted = rows[row].reference(x[index], y[index], 0.75);
      const double error = ulp_error(got, wanted);
      CHECK_MESSAGE(error <= rows[row].ulps, std::string(rows[row].expression),
                    " at x = ", x[index], ", y = ", y[index], ": ", got, " instead of ", wanted,
                    ", ", error, " ulp");
    }
  }
}

/// Checks the values of MSL expressions, each converted to float, evaluated by one thread.
inline void check_values(const std::vector<std::string>& expressions,
                         const std::string& before,
                         const std::vector<float>& expected) {
  const Gpu gpu;
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n" + before +
                       "\nkernel void f(device float* out [[buffer(0)]]) {\n";
  for (std::size_t index = 0; index < expressions.size(); ++index) {
    source += "  out[" + std::to_string(index) + "] = float(" + expressions[index] + ");\n";
  }
  std::vector<float> out(expressions.size());

  gpu.run(source + "}\n", "f", {.grid = size(1)}, out);

  REQUIRE(expected.size() == expressions.size());
  for (std::size_t index = 0; index < expressions.size(); ++index) {
    CHECK_MESSAGE(out[index] == expected[index], expressions[index], " is ", out[index],
                  " instead of ", expected[index]);
  }
}

inline void check_values(const std::vector<std::string>& expressions,
                         const std::vector<float>& expected) {
  check_values(expressions, "", expected);
}

}  // namespace pewter::test
