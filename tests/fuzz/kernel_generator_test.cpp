#include "tests/fuzz/kernel_generator.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <string>

#include "tests/fuzz/check.h"

namespace pewter::fuzz {
namespace {

constexpr std::uint64_t kSeeds = 400;

std::size_t distinct_results(const Program& program, const Outcome& outcome) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].name == "out_acc") {
      std::vector<std::uint32_t> values(program.buffers[i].count);
      std::memcpy(values.data(), outcome.contents[i].data(), outcome.contents[i].size());
      return std::set<std::uint32_t>(values.begin(), values.end()).size();
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("a seed always gives the same kernel, and another seed another one") {
  CHECK(generate(17).source() == generate(17).source());
  CHECK(generate(17).source() != generate(18).source());
}

TEST_CASE("generated kernels use the whole language") {
  std::string all;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    all += generate(seed).source();
  }

  for (const char* part : {"if (",
                           "else",
                           "switch (",
                           "for (",
                           "while (",
                           "do {",
                           "break;",
                           "continue;",
                           "return;",
                           "simd_sum(",
                           "simd_prefix_exclusive_product(",
                           "simd_shuffle_if_there(",
                           "simd_any(",
                           "quad_",
                           "threadgroup_barrier(",
                           "simdgroup_barrier(",
                           "threadgroup ulong",
                           "atomic_fetch_min_explicit(&",
                           "atomic_exchange_explicit(",
                           "simdgroup_multiply_accumulate(",
                           "[[function_constant(1)]]",
                           "struct Record1",
                           "template <int N>",
                           "noinline",
                           "thread half&",
                           "uint3 position",
                           "uint2 position",
                           "bfloat3",
                           "uchar4",
                           "long2",
                           "half(",
                           "exp(",

                           "quotient("}) {
    CHECK_MESSAGE(all.find(part) != std::string::npos, "no kernel has ", std::string(part));
  }
}

TEST_CASE("the result of a generated kernel repeats and differs between threads") {
  std::size_t varied = 0;
  constexpr std::uint64_t kRuns = 12;

  for (std::uint64_t seed = 500; seed < 500 + kRuns; ++seed) {
    const Program program = generate(seed);
    const Outcome outcome = KernelRunner(program).run(Mode{});
    REQUIRE_MESSAGE(outcome.kind == Outcome::Kind::Ran, "seed ", seed, ": ", outcome.error);
    CHECK(check(program, {Mode{}}).verdict == Verdict::Same);
    varied += distinct_results(program, outcome) * 4 >= program.grid.total() ? 1 : 0;
  }

  CHECK(varied >= kRuns * 3 / 4);
}

}  // namespace pewter::fuzz
