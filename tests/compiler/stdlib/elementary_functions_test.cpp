#include <algorithm>
#include <bit>
#include <limits>

#include "tests/compiler/stdlib/accuracy/measurement.h"
#include "tests/compiler/stdlib/elementwise.h"

// Functions of one float over all of its range, against double. The checksums are those of the
// bits: threads alone, lanes of any width and every machine have to give the same ones.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

struct Sweep {
  const char* name;
  /// Largest error in units of the last place of float.
  double ulps;
  std::uint32_t checksum;
};

const std::vector<Sweep> kSweeps = {
    {"exp", 1, 0xb47f67f0U},     {"exp2", 1, 0xa0368e64U},   {"exp10", 1, 0xf0ed304cU},
    {"log", 1.5, 0xa74f2cc3U},   {"log2", 2.5, 0x62288ceaU}, {"log10", 2.5, 0xd846681bU},
    {"rsqrt", 0.5, 0x887f5137U}, {"tanh", 3, 0x188329bdU},   {"sinh", 3, 0x43589e2dU},
    {"cosh", 3, 0x9661f5d9U},    {"asinh", 3, 0x295a35a5U},  {"acosh", 3, 0xb662f67dU},
    {"atanh", 3, 0xa97bd2b2U},   {"sin", 2.5, 0xb07789caU},  {"cos", 2.5, 0xdf100cd4U},
    {"tan", 4, 0x72bbb077U},     {"sinpi", 3, 0xb9b1ec9cU},  {"cospi", 3, 0x186440b4U},
    {"tanpi", 5, 0xb90450b8U},   {"asin", 3, 0x456a4a6fU},   {"acos", 3, 0x8eb78f13U},
    {"atan", 3, 0x4d707a47U},
};

// Numbers whose bits are equally far apart, numbers that kernels usually see, and the edges.
std::vector<float> sweep_inputs() {
  std::vector<float> inputs;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 65521) {
    inputs.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (int step = -32768; step < 32768; ++step) {
    inputs.push_back(static_cast<float>(step) / 1024);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float edge : {0.0F,       1e-45F,
                           1e-40F,     0x1p-126F,
                           0.25F,      0.5F,
                           1.0F,       0x1.fffffep-1F,
                           2.0F,       88.72283F,
                           88.72284F,  89.41598F,
                           89.41599F,  103.27893F,
                           103.9F,     104.1F,
                           127.99999F, 128.0F,
                           149.0F,     150.0F,
                           38.53184F,  44.85F,
                           45.2F,      1e5F,
                           100001.0F,  0x1.fffffep127F,
                           infinity,   std::numeric_limits<float>::quiet_NaN()}) {
    inputs.insert(inputs.end(), {edge, -edge});
  }
  return inputs;
}

// Whether the result is libm's own: far arguments are reduced by it.
bool is_far(const std::string& name, float x) {
  return (name == "sin" || name == "cos" || name == "tan") && !(std::fabs(x) <= 1e5F);
}

std::uint32_t add_to_checksum(std::uint32_t checksum, float value) {
  const std::uint32_t bits = std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value);
  return (checksum ^ bits) * 16777619U;
}

std::string unary_kernel(const char* name) {
  return "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],\n"
         "              uint i [[thread_position_in_grid]]) { out[i] = precise::" +
         std::string(name) + "(in[i]); }\n";
}

// Whether the function has a bound and a checksum of its own above.
bool is_swept(const std::string& name) {
  return std::any_of(kSweeps.begin(), kSweeps.end(),
                     [&](const Sweep& sweep) { return sweep.name == name; });
}

void check_sweep(const Gpu& gpu, const Sweep& sweep, const std::vector<float>& inputs) {
  std::vector<float> out(inputs.size());

  gpu.run(unary_kernel(sweep.name), "f", {.grid = size(inputs.size())}, inputs, out);

  const test::MathFunction& function = test::math_function(sweep.name);
  double worst = 0;
  float worst_input = 0;
  std::uint32_t checksum = 2166136261U;
  int wrong_zeros = 0;
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const double wanted = function.reference(inputs[index]);
    const double error = test::ulp_error(out[index], wanted);
    if (error > worst) {
      worst = error;
      worst_input = inputs[index];
    }
    wrong_zeros +=
        static_cast<int>(wanted == 0 && std::signbit(out[index]) != std::signbit(wanted));
    if (!is_far(sweep.name, inputs[index])) {
      checksum = add_to_checksum(checksum, out[index]);
    }
  }
  CHECK_MESSAGE(worst <= sweep.ulps, std::string(sweep.name), " is wrong by ", worst, " ulp at ",
                worst_input);
  CHECK_MESSAGE(wrong_zeros == 0, std::string(sweep.name), " has zeros of the wrong sign");
  CHECK_MESSAGE(checksum == sweep.checksum, std::string(sweep.name), " has checksum ", checksum);
}

}  // namespace

TEST_CASE("elementary functions stay within their bounds over all floats, bit by bit the same") {
  const Gpu gpu;
  const std::vector<float> inputs = sweep_inputs();
  REQUIRE(inputs.size() > 100000);
  for (const Sweep& sweep : kSweeps) {
    check_sweep(gpu, sweep, inputs);
  }
}

TEST_CASE("functions of one float keep the specification's bounds") {
  const Gpu gpu;
  const std::vector<float> inputs = sweep_inputs();
  const std::vector<double> arguments(inputs.begin(), inputs.end());
  std::vector<double> wanted(inputs.size());
  std::vector<float> out(inputs.size());
  for (const test::MathFunction& function : test::math_functions()) {
    const std::string source =
        test::math_prologue() +
        "using T = float;\n"
        "kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],\n"
        "              uint i [[thread_position_in_grid]]) {\n  const T x = in[i];\n  out[i] = " +
        result_expression(function) + ";\n}\n";
    if (is_swept(function.name)) {
      continue;
    }

    gpu.run(source, "f", {.grid = size(inputs.size())}, inputs, out);

    for (std::size_t index = 0; index < inputs.size(); ++index) {
      wanted[index] = function.wanted(arguments[index], test::kFloat);
    }
    const test::Measurement measured = measure(function, test::kFloat, arguments, out, wanted);
    CHECK_MESSAGE(measured.is_right(), std::string(function.name), ", ", measured.text());
  }
}

TEST_CASE("pow, powr and atan2 stay within their bounds over many pairs") {
  const Gpu gpu;
  std::vector<float> xs;
  std::vector<float> ys;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> edges = {0.0F,  -0.0F,      1.0F,      -1.0F,       infinity, -infinity,
                                    nan,   2.0F,       -2.0F,     0.5F,        -0.5F,    3.0F,
                                    -3.0F, 1e-45F,     -1e-45F,   1.0000001F,  3e38F,    -3e38F,
                                    2.5F,  16777216.F, 8388609.F, 0.99999994F, -1e-40F,  -2.5F};
  for (const float x : edges) {
    for (const float y : edges) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  // Exponents that lead to results of all sizes.
  for (std::uint32_t step = 1; step <= 100000; ++step) {
    const float x = std::bit_cast<float>((step * 2654435761U) & 0x7fffffffU);
    const double logarithm = std::isfinite(x) ? std::log2(static_cast<double>(x)) : 1;
    const double target = static_cast<double>(step % 3001) / 10.0 - 150.0;
    xs.push_back(x);
    ys.push_back(static_cast<float>(target / logarithm));
  }
  const std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],\n"
      "              device float* out [[buffer(2)]], uint i [[thread_position_in_grid]],\n"
      "              uint n [[threads_per_grid]]) {\n"
      "  out[i] = pow(x[i], y[i]); out[n + i] = powr(x[i], y[i]);\n"
      "  out[2 * n + i] = atan2(x[i], y[i]); }\n";
  std::vector<float> out(3 * xs.size());

  gpu.run(source, "f", {.grid = size(xs.size())}, xs, ys, out);

  for (std::size_t index = 0; index < xs.size(); ++index) {
    const double x = xs[index];
    const double y = ys[index];
    const double powers = std::pow(x, y);
    const double wanted[3] = {powers, x < 0 ? nan : powers, std::atan2(x, y)};
    for (std::size_t row = 0; row < 3; ++row) {
      const float got = out[row * xs.size() + index];
      if (row == 1 && x == 0 && std::signbit(x)) {
        continue;  // powr takes -0 for 0, which pow does not
      }
      const double error = test::ulp_error(got, wanted[row]);
      const bool zero_is_right = wanted[row] != 0 || std::signbit(got) == std::signbit(wanted[row]);
      CHECK_MESSAGE((error <= 3 && zero_is_right), "function ", row, " of ", x, " and ", y, " is ",
                    got, " instead of ", wanted[row]);
    }
  }
}

}  // namespace pewter
