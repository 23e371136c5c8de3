#include "tests/fuzz/reducer.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/fuzz/kernel_generator.h"

namespace pewter::fuzz {
namespace {

bool contains(const Program& program, const std::string& text) {
  return program.source().find(text) != std::string::npos;
}

/// The first program whose kernel has `text` within a loop.
Program program_with(const std::string& text) {
  for (std::uint64_t seed = 1; seed < 1000; ++seed) {
    Program program = generate(seed);
    if (print(program.kernel.body, 1).find(text) != std::string::npos) {
      return program;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("reduction keeps the statement that matters and drops the others") {
  const Program program = program_with("simd_sum(");
  REQUIRE(contains(program, "simd_sum("));

  const Program least = reduce(program, [](const Program& candidate) {
    return print(candidate.kernel.body, 1).find("simd_sum(") != std::string::npos;
  });

  CHECK(least.kernel.body.size() == 1);
  CHECK(least.functions.empty());
  CHECK(print(least.kernel.body, 1).size() < 80);
}

TEST_CASE("reduction leaves a program alone of which everything matters") {
  const Program program = generate(3);

  const Program least = reduce(
      program, [&](const Program& candidate) { return candidate.source() == program.source(); });

  CHECK(least.source() == program.source());
}

TEST_CASE("reduction keeps indices in range") {
  const Program program = program_with("in_uint[");

  // Nothing is left but an index, which has to stay one that the buffer has.
  const Program least = reduce(program, [](const Program& candidate) {
    return print(candidate.kernel.body, 1).find("in_uint[") != std::string::npos;
  });

  CHECK(contains(least, "in_uint[0"));
}

}  // namespace pewter::fuzz
