#include <cstring>

#include "tests/compiler/spmd/shared_code.h"

// What fast math does with a kernel is decided before the modes part, so that all of them give the
// same bits.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::noise;
using test::size;
using test::string;
using test::uint;

/// Several hundred numbers between -4 and 4.
std::vector<float> some_numbers() {
  std::vector<float> numbers;
  for (const uint word : noise(1024, 5)) {
    numbers.push_back(static_cast<float>(word % 8191) / 1024 - 4);
  }
  return numbers;
}

/// What `f` writes in a mode: "scalar", or a number of lanes.
std::vector<float> results(const Gpu& gpu, const std::string& kernel, const std::string& mode) {
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  const bool is_scalar = mode == "scalar";
  const NS::Object* value = string(mode);
  const NS::Object* name = string(is_scalar ? "PEWTER_MODE" : "PEWTER_LANES");
  options->setMathMode(MTL::MathModeFast);
  options->setPreprocessorMacros(NS::Dictionary::dictionary(value, name));
  const auto library = gpu.library(kHead + kernel, options.get());
  // Not whole groups, so that parts of programs run as well.
  std::vector<float> out(1000);
  gpu.run(gpu.pipeline(library.get(), "f").get(), {.grid = size(out.size()), .group = size(256)},
          some_numbers(), out, 1.7F);
  return out;
}

void check_all_modes(const std::string& kernel) {
  const Gpu gpu;
  const std::vector<float> expected = results(gpu, kernel, "scalar");
  for (const std::string lanes : {"8", "32", "64", "256"}) {
    const std::vector<float> out = results(gpu, kernel, lanes);
    CAPTURE(lanes);
    CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
  }
}

const std::string kParameters =
    "(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], "
    "constant float& a [[buffer(2)]], uint i [[thread_position_in_grid]]";

}  // namespace

TEST_CASE("sums of products have the same bits in every mode") {
  check_all_modes("kernel void f" + kParameters + R"() {
    const float v = x[i];
    float s = v * a + 0.3f * v * v - 2.5f * v / 7.0f;
    for (int k = 0; k < 5; ++k) s = s * v + x[(i + k) & 1023] * s - x[k] * a;
    if (v > 0.5f) s += v * s * 3.1f; else s -= s * v;
    y[i] = s;
  })");
}

TEST_CASE("products across branches and loops of different lengths have the same bits") {
  check_all_modes("kernel void f" + kParameters + R"() {
    const float v = fabs(x[i]) + 0.1f;
    float g = v, product = v * a;
    int n = 0;
    while (fabs(g * g - v) > 1e-5f * v && n < 50) { g = 0.5f * (g + v / g); ++n; }
    if (n > 4) product = product + g * v;
    y[i] = product + g * n;
  })");
}

TEST_CASE("divisions by one number share its reciprocal in every mode") {
  check_all_modes("kernel void f" + kParameters + R"() {
    const float3 v = float3(x[i], x[(i + 1) & 1023], x[(i + 2) & 1023]) + a;
    const float3 n = v / length(v);
    float s = dot(n, v) + n.x / (a + v.y) - n.y / (a + v.y);
    for (int k = 0; k < 4; ++k) s += x[k] / a;
    y[i] = s;
  })");
}

TEST_CASE("sums over what threads share have the same bits in every mode") {
  check_all_modes("kernel void f" + kParameters + R"(, uint lane [[thread_index_in_threadgroup]],
      uint threads [[threads_per_threadgroup]]) {
    threadgroup float tile[256];
    for (uint k = lane; k < 256; k += threads) tile[k] = x[(i + k) & 1023] * 0.37f + x[k * 3];
    for (uint k = 128; k > 0; k >>= 1) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (lane < k) tile[lane] += tile[lane + k] * 0.99f;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float s = 0;
    for (uint k = 0; k < 30; ++k) s += tile[k] * x[k];
    y[i] = s + simd_sum(tile[lane] * a) * 0.1f;
  })");
}

TEST_CASE("sums of halves and bfloats have the same bits in every mode") {
  check_all_modes("kernel void f" + kParameters + R"() {
    const half u = half(x[i]), v = half(x[(i + 3) & 1023]);
    half c = u * v + u;
    for (int k = 0; k < 4; ++k) c = c * u - v * half(0.3f);
    const bfloat d = bfloat(x[i]) * bfloat(a) + bfloat(c);
    y[i] = float(c) + float(d) * 0.5f;
  })");
}

}  // namespace pewter
