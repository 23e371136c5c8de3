#include <algorithm>

#include "tests/compiler/stdlib/elementwise.h"

// Floating-point functions for half, and vector forms against scalar ones for float and half.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

using Function = double (*)(double, double, double);

struct MathRow {
  /// An MSL expression in x, y and z, all of one type.
  const char* expression;
  Function reference;
  /// Largest error in units of half's last place; the specification asks for 1 or for exactness.
  double ulps = 1;
  double low = -65504;
  double high = 65504;
};

const std::vector<MathRow> kRows = {
    {"acos(x)", [](double x, double, double) { return std::acos(x); }},
    {"acosh(x)", [](double x, double, double) { return std::acosh(x); }},
    {"asin(x)", [](double x, double, double) { return std::asin(x); }},
    {"asinh(x)", [](double x, double, double) { return std::asinh(x); }},
    {"atan(x)", [](double x, double, double) { return std::atan(x); }},
    {"atan2(x, y)", [](double x, double y, double) { return std::atan2(x, y); }},
    {"atanh(x)", [](double x, double, double) { return std::atanh(x); }},
    {"ceil(x)", [](double x, double, double) { return std::ceil(x); }, 0},
    {"copysign(x, y)", [](double x, double y, double) { return std::copysign(x, y); }, 0},
    {"cos(x)", [](double x, double, double) { return std::cos(x); }},
    {"cosh(x)", [](double x, double, double) { return std::cosh(x); }},
    {"divide(x, y)", [](double x, double y, double) { return x / y; }},
    {"exp(x)", [](double x, double, double) { return std::exp(x); }},
    {"exp10(x)", [](double x, double, double) { return std::pow(10, x); }},
    {"exp2(x)", [](double x, double, double) { return std::exp2(x); }},
    {"fabs(x)", [](double x, double, double) { return std::fabs(x); }, 0},
    {"abs(x)", [](double x, double, double) { return std::fabs(x); }, 0},
    {"fdim(x, y)", [](double x, double y, double) { return std::fdim(x, y); }},
    {"floor(x)", [](double x, double, double) { return std::floor(x); }, 0},
    {"fma(x, y, z)", [](double x, double y, double z) { return std::fma(x, y, z); }},
    {"fmax(x, y)", [](double x, double y, double) { return std::fmax(x, y); }, 0},
    {"fmin(x, y)", [](double x, double y, double) { return std::fmin(x, y); }, 0},
    {"max(x, y)", [](double x, double y, double) { return std::fmax(x, y); }, 0},
    {"min(x, y)", [](double x, double y, double) { return std::fmin(x, y); }, 0},
    {"max3(x, y, z)", [](double x, double y, double z) { return std::fmax(x, std::fmax(y, z)); },
     0},
    {"fmin3(x, y, z)", [](double x, double y, double z) { return std::fmin(x, std::fmin(y, z)); },
     0},
    {"median3(x, y, z)",
     [](double x, double y, double z) {
       return std::fmax(std::fmin(x, y), std::fmin(std::fmax(x, y), z));
     },
     0},
    {"fmod(x, y)", [](double x, double y, double) { return std::fmod(x, y); }, 0},
    {"fract(x)", [](double x, double, double) { return x - std::floor(x); }},
    {"log(x)", [](double x, double, double) { return std::log(x); }},
    {"log10(x)", [](double x, double, double) { return std::log10(x); }},
    {"log2(x)", [](double x, double, double) { return std::log2(x); }},
    {"pow(abs(x), y)", [](double x, double y, double) { return std::pow(std::fabs(x), y); }},
    {"rint(x)", [](double x, double, double) { return std::rint(x); }, 0},
    {"round(x)", [](double x, double, double) { return std::round(x); }, 0},
    {"rsqrt(x)", [](double x, double, double) { return 1 / std::sqrt(x); }},
    {"sin(x)", [](double x, double, double) { return std::sin(x); }},
    {"sinh(x)", [](double x, double, double) { return std::sinh(x); }},
    {"sinpi(x)", [](double x, double, double) { return std::sin(M_PI * x); }, 1, -0.5, 0.5},
    {"cospi(x)", [](double x, double, double) { return std::cos(M_PI * x); }, 1, -0.4, 0.4},
    {"tanpi(x)", [](double x, double, double) { return std::tan(M_PI * x); }, 1, -0.4, 0.4},
    {"sqrt(x)", [](double x, double, double) { return std::sqrt(x); }},
    {"tan(x)", [](double x, double, double) { return std::tan(x); }},
    {"tanh(x)", [](double x, double, double) { return std::tanh(x); }},
    {"trunc(x)", [](double x, double, double) { return std::trunc(x); }, 0},
    {"clamp(x, fmin(y, z), fmax(y, z))",
     [](double x, double y, double z) {
       return std::fmin(std::fmax(x, std::fmin(y, z)), std::fmax(y, z));
     },
     0},
    {"saturate(x)", [](double x, double, double) { return std::fmin(std::fmax(x, 0), 1); }, 0},
    {"sign(x)", [](double x, double, double) { return x > 0   ? 1.0
                                                      : x < 0 ? -1.0
                                                              : x; }, 0},
    {"step(x, y)", [](double x, double y, double) { return y < x ? 0.0 : 1.0; }, 0},
    {"nextafter(x, x)", [](double x, double, double) { return x; }, 0},
};

// Functions whose result in half is not compared, only the agreement of vectors with scalars.
const std::vector<std::string> kAgreementOnly = {
    "mix(x, y, z)",          "smoothstep(y, z, x)",  "powr(fabs(x), y)",
    "nextafter(x, y)",       "ldexp(x, 3)",          "fast::exp(x)",
    "precise::log(fabs(x))", "fast::clamp(x, y, z)", "precise::fmax(x, y)"};

std::vector<float> awkward_halves() {
  return {0.0F,    -0.0F,    1.0F,     -1.0F,      0.5F,       -0.5F,      1.5F,   -1.5F,
          2.5F,    -2.5F,    0.125F,   0.25F,      0.375F,     -0.75F,     3.0F,   -3.25F,
          7.5F,    10.0F,    -17.0F,   100.5F,     500.0F,     2048.,      -3000., 65504.,
          -65504., 0x1p-14F, 0x1p-24F, 0x1.5p-10F, -0x1.7p-5F, 0x1.ffcp-1F};
}

std::string list(const char* name, std::size_t width) {
  std::string text;
  for (std::size_t k = 0; k < width; ++k) {
    text += (k == 0 ? "" : ", ") + std::string(name) + std::to_string(k);
  }
  return text;
}

// Which vector form of a function runs: one for a type, another for the next type. All of them are
// compiled, down to the types that they return.
std::size_t width_of(std::size_t row, const std::string& type) {
  return 2 + (row + type.size()) % 3;
}

/// Component k of a vector belongs to the thread k further on, which computes it as a scalar.
std::string type_kernel(const std::string& type,
                        const std::vector<std::string>& expressions,
                        std::size_t first_row) {
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
  std::string body;
  for (std::size_t row = 0; row < expressions.size(); ++row) {
    const std::string index = std::to_string(row);
    source += "template <typename V> auto f" + index + "(V x, V y, V z) { return " +
              expressions[row] + "; }\n";
    for (const std::string form : {"2", "3", "4"}) {
      const std::string vector = type + form;
      source += "static_assert(is_same_v<decltype(f" + index + "(" + vector + "(), " + vector +
                "(), " + vector + "())), " + vector + ">);\n";
    }
    const std::size_t width = width_of(first_row + row, type);
    const std::string vector = type + std::to_string(width);
    body += "  { out[" + index + " * n + i] = f" + index + "(x0, y0, z0);\n    const " + vector +
            " v = f" + index + "(" + vector + "(" + list("x", width) + "), " + vector + "(" +
            list("y", width) + "), " + vector + "(" + list("z", width) + "));\n";
    for (std::size_t k = 0; k < width; ++k) {
      body += "    vectors[(" + index + " * n + i) * 4 + " + std::to_string(k) + "] = v[" +
              std::to_string(k) + "];\n";
    }
    body += "  }\n";
  }
  std::string inputs;
  for (const std::string k : {"0", "1", "2", "3"}) {
    inputs += "  const uint at" + k + " = 3 * ((i + " + k + ") % n);\n  const " + type + " x" + k +
              " = xs[at" + k + "], y" + k + " = xs[at" + k + " + 1], z" + k + " = xs[at" + k +
              " + 2];\n";
  }
  return source +
         "kernel void f(device const float* xs [[buffer(0)]], device float* out [[buffer(1)]],\n" +
         "  device float* vectors [[buffer(2)]], uint i [[thread_position_in_grid]],\n" +
         "  uint n [[threads_per_grid]]) {\n" + inputs + body + "}\n";
}

struct Outcome {
  std::vector<float> inputs;
  std::vector<float> out;
};

bool is_same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Functions that one kernel calls: each of them is called up to five times, and all calls are
// inlined.
constexpr std::size_t kFunctionsOfKernel = 8;

Outcome run_expressions(const std::string& type, const std::vector<std::string>& expressions) {
  const Gpu gpu;
  Outcome outcome;
  for (const float x : awkward_halves()) {
    for (const float y : {0.5F, 2.0F, -3.0F, 1.25F}) {
      outcome.inputs.insert(outcome.inputs.end(), {x, y, 0.75F});
    }
  }
  const std::size_t count = outcome.inputs.size() / 3;

  for (std::size_t first = 0; first < expressions.size(); first += kFunctionsOfKernel) {
    const std::size_t last = std::min(first + kFunctionsOfKernel, expressions.size());
    const std::vector<std::string> part(expressions.begin() + static_cast<std::ptrdiff_t>(first),
                                        expressions.begin() + static_cast<std::ptrdiff_t>(last));
    std::vector<float> out(part.size() * count);
    std::vector<float> vectors(part.size() * count * 4, 77.0F);
    gpu.run(test::narrow_pipeline(gpu, type_kernel(type, part, first)).get(), {.grid = size(count)},
            outcome.inputs, out, vectors);
    for (std::size_t row = 0; row < part.size(); ++row) {
      for (std::size_t index = 0; index < count * width_of(first + row, type); ++index) {
        const std::size_t thread = index % count;
        const std::size_t component = index / count;
        const float scalar = out[row * count + (thread + component) % count];
        const float got = vectors[(row * count + thread) * 4 + component];
        CHECK_MESSAGE(is_same(got, scalar), type, width_of(first + row, type), ": ", part[row],
                      " at x = ", outcome.inputs[3 * ((thread + component) % count)]);
      }
    }
    outcome.out.insert(outcome.out.end(), out.begin(), out.end());
  }
  return outcome;
}

std::vector<std::string> expressions_of(const std::vector<MathRow>& rows) {
  std::vector<std::string> expressions;
  for (const MathRow& row : rows) {
    expressions.emplace_back(row.expression);
  }
  return expressions;
}

}  // namespace

TEST_CASE("functions of half are right to the last place and agree for vectors") {
  const Outcome outcome = run_expressions("half", expressions_of(kRows));

  const std::size_t count = outcome.inputs.size() / 3;
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    for (std::size_t index = 0; index < count; ++index) {
      const float* input = &outcome.inputs[3 * index];
      if (input[0] < kRows[row].low || input[0] > kRows[row].high) {
        continue;
      }
      const float got = outcome.out[row * count + index];
      const double wanted = kRows[row].reference(input[0], input[1], input[2]);
      CHECK_MESSAGE(test::ulp_error(got, wanted, test::kHalf) <= kRows[row].ulps,
                    std::string(kRows[row].expression), " at x = ", input[0], ", y = ", input[1],
                    ": ", got, " instead of ", wanted);
    }
  }
}

TEST_CASE("vector forms of functions give what the scalar forms give") {
  run_expressions("float", expressions_of(kRows));
  run_expressions("float", kAgreementOnly);
  run_expressions("half", kAgreementOnly);
}

TEST_CASE("a bfloat or an integer is taken as float") {
  test::check_values(
      {"exp(bfloat(1.0f)) == exp(1.0f)", "max(bfloat(2.0f), bfloat(3.0f))",
       "sizeof(sqrt(bfloat(4.0f)))", "pow(bfloat(2.0f), 3.0f)", "sqrt(16)",
       "fma(bfloat(2.0f), 3.0f, 1.0f)", "clamp(bfloat(5.0f), 0.0f, 2.0f)", "pow(3, 2)"},
      {1, 3, 4, 8, 4, 7, 2, 9});
}

TEST_CASE("numbers are taken apart and put together again at the edges") {
  test::check_values(
      {"parts(0.0f)",
       "parts(-0.75f)",
       "parts(1e-40f)",
       "parts(INFINITY)",
       "ldexp(1.0f, -149) > 0",
       "ldexp(1.0f, -150)",
       "ldexp(0x1p-140f, 130)",
       "ldexp(1.0f, 128)",
       "ldexp(0x1p-126f, 253)",
       "ilogb(1e-40f)",
       "ilogb(0.0f) == INT_MIN",
       "ilogb(8.0h)",
       "nextafter(1.0f, 2.0f) - 1.0f",
       "nextafter(0.0f, -1.0f) == -0x1p-149f",
       "nextafter(1.0h, 0.0h)",
       "fract(-1e-8f) < 1.0f",
       "fract(-0.25f)",
       "whole(-INFINITY)",
       "whole(-2.75f)",
       "exponents(float2(8, 0.25f)).x",
       "exponents(float2(8, 0.25f)).y",
       "cosines(float2(0, 1)).x"},
      "float parts(float x) { int e; const float m = frexp(x, e); return ldexp(m, e) == x && \n"
      "  (x == 0 || isinf(x) || (abs(m) >= 0.5f && abs(m) < 1)); }\n"
      "float whole(float x) { float w; const float f = modf(x, w); return w + 0 * f; }\n"
      "int2 exponents(float2 x) { int2 e; frexp(x, e); return e; }\n"
      "float2 cosines(float2 x) { float2 c; sincos(x, c); return c; }\n",
      {1,        1,         1,  1, 1,        0, 0x1p-10F,     INFINITY,
       0x1p127F, -133,      1,  3, 0x1p-23F, 1, 1 - 0x1p-11F, 1,
       0.75F,    -INFINITY, -2, 4, -1,       1});
}

}  // namespace pewter
