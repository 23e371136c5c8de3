#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

// Functions of metal::fast that are not those of metal::precise.

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

struct Exponential {
  const char* name;
  double (*reference)(double);
  /// What the argument is multiplied by first.
  double factor = 1;
};

const std::vector<Exponential> kExponentials = {
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"exp10", [](double x) { return std::pow(10.0, x); }, 3.3219},
};

constexpr double kLeastNormal = std::numeric_limits<float>::min();

// The specification's bound; it defines exp10(x) as exp2(x * log2(10)).
TEST_CASE("errors of fast exponentials are at most 3 + |2 x| units of the last place") {
  std::vector<float> in;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4093) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::fabs(x) < 200) {
      in.push_back(x);
    }
  }
  for (const Exponential& function : kExponentials) {
    const std::vector<float> out = results_of(function.name, in);
    double worst = 0;
    float worst_input = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double wanted = function.reference(in[i]);
      if (wanted < kLeastNormal || wanted > std::numeric_limits<float>::max()) {
        continue;
      }
      const double unit = std::ldexp(1.0, std::ilogb(wanted) - 23);
      const double share = std::fabs(out[i] - wanted) / unit /
                           (3 + std::floor(std::fabs(2 * function.factor * in[i])));
      if (!(share <= worst)) {
        worst = share;
        worst_input = in[i];
      }
    }
    CHECK_MESSAGE(worst <= 1, std::string(function.name), " has ", worst, " of its bound at ",
                  worst_input);
    CHECK(worst > 0);
  }
}

TEST_CASE("fast exponentials keep infinities, NaN and the power of nothing") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Exponential& function : kExponentials) {
    const std::vector<float> out = results_of(
        function.name,
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
