#include "examples/nbody/nbody.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace examples {
namespace {

constexpr std::uint32_t kCount = 2048;
constexpr std::uint32_t kGroup = 128;
constexpr int kSteps = 4;
constexpr double kOperationsPerPair = 20;

/// `Settings` of nbody.metal.
struct Settings {
  std::uint32_t count = kCount;
  float time_step = 0.01f;
  float softening = 0.05f;
};

struct Bodies {
  std::vector<std::array<double, 4>> positions;  // the last component is the mass
  std::vector<std::array<double, 4>> velocities;
};

std::vector<float> to_floats(const std::vector<std::array<double, 4>>& values) {
  std::vector<float> flat;
  for (const auto& value : values) {
    flat.insert(flat.end(), value.begin(), value.end());
  }
  return flat;
}

Bodies random_bodies() {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> place(-1, 1);
  Bodies bodies;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    bodies.positions.push_back(
        {place(generator), place(generator), place(generator), 1.0f / kCount});
    bodies.velocities.push_back({0, 0, 0, 0});
  }
  return bodies;
}

void reference_step(Bodies& bodies, const Settings& settings) {
  const auto before = bodies.positions;
  const double softening = double{settings.softening} * settings.softening;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    std::array<double, 3> acceleration{};
    for (const auto& other : before) {
      const std::array<double, 3> towards = {other[0] - before[i][0], other[1] - before[i][1],
                                             other[2] - before[i][2]};
      const double squared =
          towards[0] * towards[0] + towards[1] * towards[1] + towards[2] * towards[2] + softening;
      const double weight = other[3] / (squared * std::sqrt(squared));
      for (std::size_t axis = 0; axis < 3; ++axis) {
        acceleration[axis] += weight * towards[axis];
      }
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      bodies.velocities[i][axis] += settings.time_step * acceleration[axis];
      bodies.positions[i][axis] += settings.time_step * bodies.velocities[i][axis];
    }
  }
}

/// Two sets of positions and velocities, read and written in turn.
struct State {
  NS::SharedPtr<MTL::Buffer> positions;
  NS::SharedPtr<MTL::Buffer> velocities;
};

State make_state(Gpu& gpu, const Bodies& bodies) {
  return {gpu.buffer(to_floats(bodies.positions)), gpu.buffer(to_floats(bodies.velocities))};
}

void encode_step(MTL::ComputeCommandEncoder* encoder, const State& from, const State& to) {
  encoder->setBuffer(from.positions.get(), 0, 0);
  encoder->setBuffer(from.velocities.get(), 0, 1);
  encoder->setBuffer(to.positions.get(), 0, 2);
  encoder->setBuffer(to.velocities.get(), 0, 3);
  encoder->dispatchThreads(MTL::Size(kCount, 1, 1), MTL::Size(kGroup, 1, 1));
}

double difference(const State& state, const Bodies& bodies) {
  const float* positions = contents<float>(state.positions);
  Difference found;
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      found.add(positions[4 * i + axis], bodies.positions[i][axis]);
    }
  }
  return found.relative();
}

}  // namespace

Outcome nbody(Gpu& gpu) {
  gpu.load(EXAMPLE_SOURCE);
  const auto pipeline = gpu.pipeline("nbody");
  const Settings settings;
  Bodies bodies = random_bodies();
  const State start = make_state(gpu, bodies);
  const State states[] = {make_state(gpu, bodies), make_state(gpu, bodies)};

  Outcome outcome;
  outcome.kernel = "n-body";
  outcome.grid = fmt::format("{}, {} steps", kCount, kSteps);
  outcome.compile_ms = gpu.compile_ms();
  outcome.run_ms = gpu.run([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBytes(&settings, sizeof(settings), 4);
    encoder->setThreadgroupMemoryLength(kGroup * 4 * sizeof(float), 0);
    encode_step(encoder, start, states[0]);
    for (int step = 1; step < kSteps; ++step) {
      encode_step(encoder, states[(step + 1) % 2], states[step % 2]);
    }
  });

  const double pairs = double{kCount} * kCount * kSteps;
  outcome.rate = rate(pairs * kOperationsPerPair, outcome.run_ms, "FLOP/s");
  for (int step = 0; step < kSteps; ++step) {
    reference_step(bodies, settings);
  }
  const double found = difference(states[(kSteps - 1) % 2], bodies);
  outcome.correct = found < 1e-5;
  outcome.check = fmt::format("positions differ by {:.2g} of the largest", found);
  return outcome;
}

}  // namespace examples
