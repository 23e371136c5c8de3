#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

// What functions of metal::fast keep that the bounds of the specification do not ask for; those are
// in the table of accuracy/.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

std::vector<float> results_of(const char* name, const std::vector<float>& in) {
  std::vector<float> out(in.size());
  Gpu().run(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],\n"
      "              uint i [[thread_position_in_grid]]) { out[i] = fast::" +
          std::string(name) + "(in[i]); }\n",
      "f", {.grid = size(in.size())}, in, out);
  return out;
}

constexpr const char* kExponentials[] = {"exp", "exp2", "exp10"};

constexpr double kLeastNormal = std::numeric_limits<float>::min();

TEST_CASE("fast exponentials keep infinities, NaN and the power of nothing") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char* function : kExponentials) {
    const std::vector<float> out = results_of(
        function,
        {0, -0.0F, infinity, -infinity, 1000, -1000, std::numeric_limits<float>::quiet_NaN(),
         // NaN with bits that an exponent could be made of.
         std::bit_cast<float>(0x7fc00155U), std::bit_cast<float>(0xffc001ffU)});

    CHECK(std::vector<float>(out.begin(), out.begin() + 6) ==
          std::vector<float>{1, 1, infinity, 0, infinity, 0});
    CHECK(std::isnan(out[6]));
    CHECK(std::isnan(out[7]));
    CHECK(std::isnan(out[8]));
  }
}

TEST_CASE("fast exponentials go down to 0 where results are no normal numbers") {
  std::vector<float> in;
  for (float x = -126; x > -128; x -= 0x1p-10F) {
    in.push_back(x);
  }

  const std::vector<float> out = results_of("exp2", in);

  CHECK(out.front() == static_cast<float>(kLeastNormal));
  for (std::size_t i = 1; i < in.size(); ++i) {
    CHECK(out[i] <= out[i - 1]);
  }
  CHECK(out.back() == 0);
}

}  // namespace
}  // namespace pewter
