#include "pewter/base/cpu.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace pewter {
namespace {

bool has(const std::string& feature) {
  const auto& features = cpu::features();
  return std::find(features.begin(), features.end(), feature) != features.end();
}

TEST_CASE("the processor has a name and a code generation level") {
  CHECK(!cpu::brand().empty());
  CHECK((cpu::level().rfind("x86-64", 0) == 0 || cpu::level() == "generic"));
}

TEST_CASE("the level never promises a feature that the processor lacks") {
  if (cpu::level() == "x86-64-v3" || cpu::level() == "x86-64-v4") {
    CHECK(has("avx2"));
    CHECK(has("fma"));
    CHECK(has("bmi2"));
  }
  if (cpu::level() == "x86-64-v4") {
    CHECK(has("avx512f"));
    CHECK(has("avx512vl"));
  }
}

}  // namespace
}  // namespace pewter
