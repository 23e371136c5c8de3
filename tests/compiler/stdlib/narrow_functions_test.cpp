#include <algorithm>

#include "tests/compiler/stdlib/accuracy/measurement.h"
#include "tests/support/gpu.h"

// Functions of one half or one bfloat, for each of their 65536 values.

namespace pewter {
namespace {

using test::FloatFormat;
using test::Gpu;
using test::MathFunction;
using test::Measurement;
using test::size;

constexpr std::size_t kValues = 65536;
// Functions that one kernel computes: few enough to compile fast.
constexpr std::size_t kFunctionsOfKernel = 6;

using Functions = std::vector<const MathFunction*>;

Functions functions_of(const FloatFormat& format) {
  Functions functions;
  for (const MathFunction& function : test::math_functions()) {
    if (exists_for(function, format)) {
      functions.push_back(&function);
    }
  }
  return functions;
}

std::string kernel_name(std::size_t first) {
  return "f" + std::to_string(first);
}

std::string library_source(const FloatFormat& format, const Functions& functions) {
  std::string source = test::math_prologue() + "using T = " + format.name + ";\n";
  for (std::size_t first = 0; first < functions.size(); first += kFunctionsOfKernel) {
    source += "kernel void " + kernel_name(first) +
              "(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
              "  uint n [[threads_per_grid]]) {\n  const T x = as_type<T>(ushort(i));\n";
    const std::size_t count = std::min(kFunctionsOfKernel, functions.size() - first);
    for (std::size_t row = 0; row < count; ++row) {
      source += "  out[" + std::to_string(row) +
                " * n + i] = " + result_expression(*functions[first + row]) + ";\n";
    }
    source += "}\n";
  }
  return source;
}

Measurement measure_function(const MathFunction& function,
                             const FloatFormat& format,
                             std::span<const float> got) {
  std::vector<double> arguments(kValues);
  std::vector<double> wanted(kValues);
  for (std::uint32_t bits = 0; bits < kValues; ++bits) {
    arguments[bits] = format.value(bits);
    wanted[bits] = function.wanted(arguments[bits], format);
  }
  return measure(function, format, arguments, got, wanted);
}

void check_every_value(const FloatFormat& format) {
  const Gpu gpu;
  const Functions functions = functions_of(format);
  REQUIRE(functions.size() > 30);
  // A bfloat is taken as a float, and fast exponentials of floats have no subnormal results.
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  if (format.precision == test::kBfloat.precision) {
    options->setMathFloatingPointFunctions(MTL::MathFloatingPointFunctionsPrecise);
  }
  const auto library = gpu.library(library_source(format, functions), options.get());
  for (std::size_t first = 0; first < functions.size(); first += kFunctionsOfKernel) {
    const std::size_t count = std::min(kFunctionsOfKernel, functions.size() - first);
    std::vector<float> out(count * kValues);

    gpu.run(gpu.pipeline(library.get(), kernel_name(first)).get(),
            {.grid = size(kValues), .group = size(256)}, out);

    for (std::size_t row = 0; row < count; ++row) {
      const Measurement measured = measure_function(*functions[first + row], format,
                                                    std::span(out).subspan(row * kValues, kValues));
      CHECK_MESSAGE(measured.is_right(), std::string(format.name), " ",
                    std::string(functions[first + row]->name), ", ", measured.text());
    }
  }
}

}  // namespace

TEST_CASE("functions of half keep the specification's bounds for every number") {
  check_every_value(test::kHalf);
}

TEST_CASE("functions of bfloat are those of float, rounded, for every number") {
  check_every_value(test::kBfloat);
}

}  // namespace pewter
