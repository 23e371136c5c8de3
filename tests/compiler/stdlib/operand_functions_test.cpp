#include "tests/compiler/stdlib/accuracy/operand_functions.h"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/gpu.h"

// Functions of two and three numbers, for float, half and bfloat, over triples of awkward values
// and random ones.

namespace pewter {
namespace {

using test::FloatFormat;
using test::Gpu;
using test::OperandFunction;
using test::Operands;
using test::size;

// Functions that one kernel computes: few enough to compile fast.
constexpr std::size_t kFunctionsOfKernel = 7;

using Functions = std::vector<const OperandFunction*>;

Functions functions_of(const FloatFormat& format) {
  Functions functions;
  for (const OperandFunction& function : test::operand_functions()) {
    if (format.precision != test::kBfloat.precision || function.has_bfloat) {
      functions.push_back(&function);
    }
  }
  return functions;
}

std::vector<float> awkward_values(const FloatFormat& format) {
  const auto largest = static_cast<float>(
      std::ldexp(2 - std::ldexp(1.0, 1 - format.precision), format.overflow_exponent - 1));
  const auto least = static_cast<float>(std::ldexp(1.0, format.least_exponent));
  const auto normal =
      static_cast<float>(std::ldexp(1.0, format.least_exponent + format.precision - 1));
  const auto above_one = static_cast<float>(1 + std::ldexp(1.0, 1 - format.precision));
  const auto below_one = static_cast<float>(format.below_one());
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {std::numeric_limits<float>::quiet_NaN()};
  for (const float value : {0.0F, 1.0F, 0.5F, 1.5F, 2.0F, 3.0F, 0.375F, 10.0F, above_one, below_one,
                            least, normal, normal - least, largest, infinity}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

// A number of the format whose bits are random, or one of usual size.
float random_value(const FloatFormat& format, std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  const auto bits = static_cast<std::uint32_t>(state >> 32);
  if ((state >> 20 & 1) == 0) {
    return static_cast<float>(format.value(format.bits() == 32 ? bits : bits >> 16));
  }
  return static_cast<float>(format.rounded((static_cast<double>(bits) - 0x1p31) * 0x1p-28));
}

std::vector<float> operands_of(const FloatFormat& format) {
  std::vector<float> operands;
  const std::vector<float> values = awkward_values(format);
  for (const float x : values) {
    for (const float y : values) {
      operands.insert(operands.end(), {x, y, values[(operands.size() / 3 * 7) % values.size()]});
    }
  }
  // The product lies between two halves, and the last operand decides; float holds no such sum.
  const float tie = 683.0F / 2048;
  for (const float x : {3.0F, -3.0F}) {
    if (format.precision == test::kBfloat.precision) {
      break;
    }
    operands.insert(operands.end(), {x, tie, 0x1p-24F, x, tie, -0x1p-24F});
  }
  std::uint64_t state = 2026;
  for (int count = 0; count < 3 * 6000; ++count) {
    operands.push_back(random_value(format, state));
  }
  return operands;
}

std::string source_of(const FloatFormat& format, const Functions& functions) {
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\nusing T = " + std::string(format.name) +
      ";\n";
  for (std::size_t first = 0; first < functions.size(); first += kFunctionsOfKernel) {
    source += "kernel void f" + std::to_string(first) +
              "(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],\n"
              "  uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {\n"
              "  const T x = T(in[3 * i]), y = T(in[3 * i + 1]), z = T(in[3 * i + 2]);\n";
    const std::size_t count = std::min(kFunctionsOfKernel, functions.size() - first);
    for (std::size_t row = 0; row < count; ++row) {
      source += "  out[" + std::to_string(row) + " * n + i] = float(T(" +
                functions[first + row]->expression + "));\n";
    }
    source += "}\n";
  }
  return source;
}

void check_function(const OperandFunction& function,
                    const FloatFormat& format,
                    const std::vector<float>& in,
                    std::span<const float> got) {
  std::size_t wrong = 0;
  for (std::size_t index = 0; index < got.size() && wrong < 5; ++index) {
    const Operands operands{in[3 * index], in[3 * index + 1], in[3 * index + 2]};
    const test::OperandVerdict verdict = judge(function, format, operands, got[index]);
    if (!verdict.is_right) {
      ++wrong;
      FAIL_CHECK(std::string(format.name), " ", std::string(function.expression),
                 " at x = ", operands.x, ", y = ", operands.y, ", z = ", operands.z, ": ",
                 got[index], " instead of ", verdict.wanted, ", ", verdict.error, " ulp");
    }
  }
}

void check_type(const FloatFormat& format) {
  const Gpu gpu;
  const Functions functions = functions_of(format);
  const std::vector<float> in = operands_of(format);
  const std::size_t triples = in.size() / 3;
  const auto library = gpu.library(source_of(format, functions));
  for (std::size_t first = 0; first < functions.size(); first += kFunctionsOfKernel) {
    const std::size_t count = std::min(kFunctionsOfKernel, functions.size() - first);
    std::vector<float> out(count * triples);

    gpu.run(gpu.pipeline(library.get(), "f" + std::to_string(first)).get(), {.grid = size(triples)},
            in, out);

    for (std::size_t row = 0; row < count; ++row) {
      check_function(*functions[first + row], format, in,
                     std::span(out).subspan(row * triples, triples));
    }
  }
}

}  // namespace

TEST_CASE("functions of two and three floats keep the specification's bounds") {
  check_type(test::kFloat);
}

TEST_CASE("functions of two and three halves keep the specification's bounds") {
  check_type(test::kHalf);
}

TEST_CASE("operators and functions of two and three bfloats are correctly rounded") {
  check_type(test::kBfloat);
}

}  // namespace pewter
