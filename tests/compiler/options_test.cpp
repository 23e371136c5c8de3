#include <cmath>
#include <string>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

NS::SharedPtr<MTL::CompileOptions> options(MTL::LanguageVersion version, MTL::MathMode mode) {
  auto result = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  result->setLanguageVersion(version);
  result->setMathMode(mode);
  return result;
}

/// What a kernel with `body` writes to `out`, an array of floats.
std::vector<float> values_of(const std::string& body,
                             std::size_t count,
                             MTL::LanguageVersion version = MTL::LanguageVersion3_2,
                             MTL::MathMode mode = MTL::MathModeFast,
                             std::vector<float> in = {0}) {
  const Gpu gpu;
  const auto library =
      gpu.library(kHead +
                      "kernel void f(device float* out [[buffer(0)]], device const float* in "
                      "[[buffer(1)]]) {\n" +
                      body + "\n}\n",
                  options(version, mode).get());
  std::vector<float> out(count, -1);
  gpu.run(gpu.pipeline(library.get(), "f").get(), {.grid = size(1)}, out, in);
  return out;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("each language version has its number and its features") {
  const std::string body =
      "out[0] = __METAL_VERSION__;\n#ifdef __HAVE_BFLOAT__\nout[1] = 1;\n#else\nout[1] = "
      "0;\n#endif";

  CHECK(values_of(body, 2, MTL::LanguageVersion2_4) == Floats{240, 0});
  CHECK(values_of(body, 2, MTL::LanguageVersion3_0) == Floats{300, 0});
  CHECK(values_of(body, 2, MTL::LanguageVersion3_1) == Floats{310, 1});
  CHECK(values_of(body, 2, MTL::LanguageVersion3_2) == Floats{320, 1});
  CHECK(values_of(body, 2, MTL::LanguageVersion4_0) == Floats{400, 1});
}

TEST_CASE("a language version that does not exist is refused") {
  const Gpu gpu;
  const auto wanted = options(static_cast<MTL::LanguageVersion>(5 << 16), MTL::MathModeFast);

  CHECK(gpu.library_error(kHead, wanted.get()) ==
        "language version 5.0 is not supported: versions 1.0 to 4.0 are");
}

TEST_CASE("__FAST_MATH__ is defined in fast mode alone") {
  const std::string body = "#ifdef __FAST_MATH__\nout[0] = 1;\n#else\nout[0] = 0;\n#endif";

  CHECK(values_of(body, 1, MTL::LanguageVersion3_2, MTL::MathModeFast) == Floats{1});
  CHECK(values_of(body, 1, MTL::LanguageVersion3_2, MTL::MathModeRelaxed) == Floats{0});
  CHECK(values_of(body, 1, MTL::LanguageVersion3_2, MTL::MathModeSafe) == Floats{0});
}

TEST_CASE("safe math keeps the order of sums, relaxed and fast math may change it") {
  const std::string body = "out[0] = (in[0] + in[1]) - in[0];";
  const Floats in = {1e8F, 1};

  CHECK(values_of(body, 1, MTL::LanguageVersion3_2, MTL::MathModeSafe, in) == Floats{0});
  CHECK(values_of(body, 1, MTL::LanguageVersion3_2, MTL::MathModeRelaxed, in) == Floats{1});
  CHECK(values_of(body, 1, MTL::LanguageVersion3_2, MTL::MathModeFast, in) == Floats{1});
}

TEST_CASE("infinities and NaN keep their meaning in every mode") {
  const std::string body =
      "out[0] = 1 / (1 + exp(in[0])); out[1] = isnan(in[1]); out[2] = in[2] / in[0];\n"
      "out[3] = isinf(in[0] * 1e38f * 1e38f);";
  for (const auto mode : {MTL::MathModeSafe, MTL::MathModeRelaxed, MTL::MathModeFast}) {
    CHECK(values_of(body, 4, MTL::LanguageVersion3_2, mode, {INFINITY, NAN, 3}) ==
          Floats{0, 1, 0, 1});
  }
}

TEST_CASE("functions of the standard library keep their accuracy in fast mode") {
  const Floats in = {0.7F, 12345.678F, 1e-3F, -3.25F};
  const Floats out = values_of(
      "out[0] = sin(in[1]); out[1] = exp(in[3]); out[2] = log(in[0]); out[3] = pow(in[0], 2.5f);\n"
      "out[4] = tanh(in[2]);",
      5, MTL::LanguageVersion3_2, MTL::MathModeFast, in);

  CHECK(out[0] == doctest::Approx(std::sin(12345.678F)).epsilon(1e-6));
  CHECK(out[1] == doctest::Approx(std::exp(-3.25)).epsilon(1e-6));
  CHECK(out[2] == doctest::Approx(std::log(0.7F)).epsilon(1e-6));
  CHECK(out[3] == doctest::Approx(std::pow(0.7F, 2.5)).epsilon(1e-6));
  CHECK(out[4] == doctest::Approx(std::tanh(1e-3F)).epsilon(1e-6));
}

TEST_CASE("an option chooses the functions that are called without a namespace") {
  const Gpu gpu;
  // Only precise functions have subnormal results.
  const std::string text = kHead +
                           "kernel void f(device float* out, constant float& x) {\n"
                           "out[0] = exp(x); out[1] = fast::exp(x); out[2] = precise::exp(x);\n"
                           "out[3] = exp2(x * 1.5f); out[4] = exp10(x * 0.43f);\n}\n";
  const float x = -90;
  const auto is_zero = [&](const MTL::CompileOptions* wanted) {
    std::vector<float> out(5, -1);
    const auto library = gpu.library(text, wanted);
    gpu.run(gpu.pipeline(library.get(), "f").get(), {.grid = size(1)}, out, std::vector{x});
    std::vector<bool> zeros;
    for (const float value : out) {
      CHECK(value >= 0);
      CHECK(value < 1e-37F);
      zeros.push_back(value == 0);
    }
    return zeros;
  };
  const auto wanted = options(MTL::LanguageVersion3_2, MTL::MathModeFast);
  const std::vector<bool> fast = {true, true, false, true, true};
  const std::vector<bool> precise = {false, true, false, false, false};

  CHECK(is_zero(wanted.get()) == fast);
  wanted->setMathFloatingPointFunctions(MTL::MathFloatingPointFunctionsPrecise);
  CHECK(is_zero(wanted.get()) == precise);
  wanted->setFastMathEnabled(true);
  CHECK(is_zero(wanted.get()) == fast);
  wanted->setFastMathEnabled(false);
  CHECK(is_zero(wanted.get()) == precise);
}

TEST_CASE("__func__ and string literals are in constant memory") {
  CHECK(values_of("constant char* name = __func__; constant char* text = \"abc\";\n"
                  "out[0] = name[0]; out[1] = text[1];",
                  2) == Floats{'f', 'b'});
}

TEST_CASE("an assertion that does not hold ends the command buffer with its text and line") {
  const Gpu gpu;
  const test::LogCapture log;
  const auto pipeline = gpu.pipeline(kHead +
                                         "kernel void f(device int* x [[buffer(0)]], uint i "
                                         "[[thread_position_in_grid]]) {\n"
                                         "  x[i] += 1;\n  assert(x[i] < 40);\n}\n",
                                     "f");
  std::vector<int> good(64, 3);
  std::vector<int> bad(64, 3);
  bad[50] = 39;

  gpu.run(pipeline.get(), {.grid = size(64)}, good);
  const std::string error = gpu.run_error(pipeline.get(), {.grid = size(64)}, bad);

  CHECK(good[50] == 4);
  CHECK(error ==
        "kernel 'f': program_source:5: assertion failed: x[i] < 40 in threadgroup (1, 0, 0)");
}

TEST_CASE("NDEBUG leaves assertions out") {
  CHECK(values_of("#define NDEBUG\n#include <assert.h>\nassert(in[0] > 5); out[0] = 7;", 1) ==
        Floats{7});
}

TEST_CASE("a pragma chooses whether sums of a block may change their order") {
  // What is lost when the small number is added to the large one comes back in another order.
  const std::string sum = "float a = in[0];\nout[N] = (a + in[1]) - a;\n}\n";
  const std::string body = "{\n#define N 0\n#pragma METAL fp math_mode(safe)\n" + sum +
                           "#undef N\n{\n#define N 1\n#pragma METAL fp math_mode(relaxed)\n" + sum +
                           "#undef N\n{\n#define N 2\n" + sum;
  const Floats in = {1e8F, 1};
  CHECK(values_of(body, 3, MTL::LanguageVersion3_2, MTL::MathModeFast, in) == Floats{0, 1, 1});
  CHECK(values_of(body, 3, MTL::LanguageVersion3_2, MTL::MathModeSafe, in) == Floats{0, 0, 0});
}

TEST_CASE("a pragma chooses whether products and sums of a block are fused") {
  // The product of these is a tie between two floats; only a fused sum sees what is lost.
  const std::string sum = "out[N] = in[0] * in[0] - in[1];\n}\n";
  const std::string body = "{\n#define N 0\n#pragma METAL fp contract(off)\n" + sum +
                           "#undef N\n{\n#define N 1\n#pragma METAL fp contract(fast)\n" + sum +
                           "#undef N\n{\n#define N 2\n#pragma METAL fp math_mode(safe)\n" + sum +
                           "#undef N\n{\n#define N 3\n" + sum;
  const Floats in = {1 + 0x1p-12F, 1 + 0x1p-11F};
  CHECK(values_of(body, 4, MTL::LanguageVersion3_2, MTL::MathModeFast, in) ==
        Floats{0, 0x1p-24F, 0, 0x1p-24F});
  CHECK(values_of(body, 4, MTL::LanguageVersion3_2, MTL::MathModeSafe, in) == Floats{0, 0, 0, 0});
}

TEST_CASE("a pragma of METAL that says nothing known is warned of at its line") {
  const Gpu gpu;
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(gpu.device()->newLibrary(
      test::string("#pragma METAL internals : enable\n#pragma METAL fp math_mode(wild)\n" + kHead),
      nullptr, &error));
  CHECK(library);
  CHECK(test::first_line(error).find("program_source:2:15: warning: '#pragma METAL fp' takes") ==
        0);
}

}  // namespace pewter
