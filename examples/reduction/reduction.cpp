#include "examples/reduction/reduction.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace examples {
namespace {

constexpr std::uint32_t kCount = 4 * 1024 * 1024 + 7;
constexpr std::uint32_t kGroup = 256;
constexpr std::uint32_t kGroups = 64;

void encode_pass(MTL::ComputeCommandEncoder* encoder,
                 const MTL::Buffer* in,
                 const MTL::Buffer* partial,
                 std::uint32_t count,
                 std::uint32_t groups) {
  encoder->setBuffer(in, 0, 0);
  encoder->setBuffer(partial, 0, 1);
  encoder->setBytes(&count, sizeof(count), 2);
  encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(kGroup, 1, 1));
}

}  // namespace

Outcome reduction(Gpu& gpu) {
  gpu.load(EXAMPLE_SOURCE);
  const auto pipeline = gpu.pipeline("reduction");
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> number(0, 1);
  std::vector<float> numbers(kCount);
  for (float& value : numbers) {
    value = number(generator);
  }
  const auto in = gpu.buffer(numbers);
  const auto partial = gpu.buffer(kGroups * sizeof(float));
  const auto total = gpu.buffer(sizeof(float));

  Outcome outcome;
  outcome.kernel = "reduction";
  outcome.grid = fmt::format("{}", kCount);
  outcome.compile_ms = gpu.compile_ms();
  outcome.run_ms = gpu.run([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(pipeline.get());
    encode_pass(encoder, in.get(), partial.get(), kCount, kGroups);
    encode_pass(encoder, partial.get(), total.get(), kGroups, 1);
  });

  outcome.rate = rate(double{kCount} * sizeof(float), outcome.run_ms, "B/s");
  const double expected = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  const double found = *contents<float>(total);
  outcome.correct = std::abs(found - expected) < 1e-5 * expected;
  outcome.check = fmt::format("the sum is {:.9g} instead of {:.9g}", found, expected);
  return outcome;
}

}  // namespace examples
