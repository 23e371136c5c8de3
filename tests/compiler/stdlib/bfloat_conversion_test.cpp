#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

// Integers of every size become the nearest bfloat, and of two the even one.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

/// Around the middles between neighbouring bfloats, and all over the bits.
std::vector<std::int64_t> awkward_integers() {
  std::vector<std::int64_t> values = {0, 1, -1, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN};
  for (int power = 8; power < 63; ++power) {
    for (const std::int64_t step : {0, 1, 2, 126, 127}) {
      // Half of a unit beyond a bfloat with this power of two.
      const std::int64_t bfloat = (std::int64_t{128} + step) << (power - 7);
      const std::int64_t middle = bfloat + (std::int64_t{1} << (power - 8));
      for (const std::int64_t distance : {-65537, -129, -1, 0, 1, 255, 65537}) {
        values.push_back(middle + distance);
        values.push_back(-middle - distance);
      }
    }
  }
  std::mt19937_64 random(7);
  for (int count = 0; count < 4000; ++count) {
    values.push_back(static_cast<std::int64_t>(random()) >> (random() % 63));
  }
  return values;
}

/// Long double holds every integer, so this is the only rounding.
float nearest_bfloat(long double value) {
  int exponent = 0;
  const long double part = std::frexp(value, &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(part, 8)), exponent - 8));
}

template <typename T>
void check_type(const std::string& name) {
  const std::vector<std::int64_t> in = awkward_integers();
  std::vector<float> out(in.size());
  std::vector<float> by_vectors(in.size());

  Gpu().run(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device const long* in [[buffer(0)]], device float* out [[buffer(1)]],\n"
      "              device float* by_vectors [[buffer(2)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n  const " +
          name + " x = " + name + "(in[i]);\n  out[i] = float(bfloat(x));\n" +
          "  by_vectors[i] = float(bfloat2(" + name + "2(0, x)).y);\n}\n",
      "f", {.grid = size(in.size())}, in, out, by_vectors);

  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size() && wrong < 5; ++i) {
    const float wanted = nearest_bfloat(static_cast<long double>(static_cast<T>(in[i])));
    if (out[i] != wanted || by_vectors[i] != wanted) {
      ++wrong;
      FAIL_CHECK(name, " ", static_cast<T>(in[i]), " becomes ", out[i], " and ", by_vectors[i],
                 " instead of ", wanted);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("integers are rounded once when they become bfloat") {
  check_type<std::int32_t>("int");
  check_type<std::uint32_t>("uint");
  check_type<std::int64_t>("long");
  check_type<std::uint64_t>("ulong");
  check_type<std::int16_t>("short");
}

}  // namespace
}  // namespace pewter
