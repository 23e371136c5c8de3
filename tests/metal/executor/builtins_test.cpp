#include "pewter/metal/executor/builtins.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

namespace pewter::executor::test {
namespace {

using Unary = float (*)(float);
using Binary = float (*)(float, float);

template <typename Function>
Function find(const char* name) {
  const void* address = find_builtin(name);
  REQUIRE_MESSAGE(address != nullptr, name);
  return reinterpret_cast<Function>(const_cast<void*>(address));
}

/// Distance between a float and an exact value, in units of the float's last place.
double ulps(float value, double exact) {
  const double unit =
      std::nextafter(std::fabs(value), std::numeric_limits<float>::infinity()) - std::fabs(value);
  return std::fabs(static_cast<double>(value) - exact) / unit;
}

TEST_CASE("each name stands for one function") {
  std::set<std::string> names;
  for (const auto family :
       {simdgroup_builtins(), synchronization_builtins(), math_builtins(), runtime_builtins()}) {
    for (const Builtin& builtin : family) {
      CHECK_MESSAGE(names.insert(std::string(builtin.name)).second, builtin.name);
      CHECK_MESSAGE(builtin.address != nullptr, builtin.name);
      CHECK(find_builtin(builtin.name) == builtin.address);
    }
  }
}

TEST_CASE("an unknown name has no function") {
  CHECK(find_builtin("air.nonsense.f32") == nullptr);
  CHECK(find_builtin("") == nullptr);
}

TEST_CASE("functions of pi are exact where the mathematics is") {
  const auto sinpi = find<Unary>("air.sinpi.f32");
  const auto cospi = find<Unary>("air.cospi.f32");
  const auto tanpi = find<Unary>("air.tanpi.f32");

  for (const float whole : {-3.0F, -1.0F, 0.0F, 1.0F, 2.0F, 12345.0F, 1e10F}) {
    CHECK(sinpi(whole) == 0);
    CHECK(tanpi(whole) == 0);
    CHECK(cospi(whole + 0.5F) == (whole < 1e9F ? 0.0F : 1.0F));
  }
  CHECK(sinpi(0.5F) == 1);
  CHECK(sinpi(1.5F) == -1);
  CHECK(cospi(1.0F) == -1);
  CHECK(tanpi(0.25F) == 1);
  CHECK(std::isnan(sinpi(std::numeric_limits<float>::infinity())));
}

TEST_CASE("functions of our own are within two units in the last place") {
  const auto sinpi = find<Unary>("air.sinpi.f32");
  const auto exp10 = find<Unary>("air.exp10.f32");
  const auto rsqrt = find<Unary>("air.rsqrt.f32");
  for (int i = 1; i < 1000; ++i) {
    const float x = static_cast<float>(i) * 0.0377F;
    const double wide = x;
    CHECK(ulps(exp10(x), std::pow(10.0, wide)) <= 2);
    CHECK(ulps(rsqrt(x), 1 / std::sqrt(wide)) <= 2);
    if (std::fabs(std::sin(M_PI * wide)) > 1e-3) {
      CHECK(ulps(sinpi(x), std::sin(M_PI * std::remainder(wide, 2.0))) <= 2);
    }
  }
}

TEST_CASE("a power with a negative base is not a number for powr alone") {
  CHECK(find<Binary>("air.pow.f32")(-2.0F, 3.0F) == -8.0F);
  CHECK(std::isnan(find<Binary>("air.powr.f32")(-2.0F, 3.0F)));
  CHECK(find<Binary>("air.powr.f32")(2.0F, 3.0F) == 8.0F);
}

TEST_CASE("fract stays below one") {
  const auto fract = find<Unary>("air.fract.f32");
  CHECK(fract(1.25F) == 0.25F);
  CHECK(fract(-0.25F) == 0.75F);
  CHECK(fract(-1e-10F) < 1.0F);
}

}  // namespace
}  // namespace pewter::executor::test
