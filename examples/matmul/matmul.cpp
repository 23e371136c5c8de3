#include "examples/matmul/matmul.h"

#include <fmt/core.h>

#include <cstdint>
#include <random>
#include <vector>

namespace examples {
namespace {

constexpr std::uint32_t kTile = 16;

/// `Sizes` of matmul.metal.
struct Sizes {
  std::uint32_t rows = 300;
  std::uint32_t columns = 320;
  std::uint32_t depth = 310;
};

std::vector<float> random_matrix(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> matrix(count);
  for (float& element : matrix) {
    element = number(generator);
  }
  return matrix;
}

std::vector<double> reference(const std::vector<float>& a,
                              const std::vector<float>& b,
                              const Sizes& sizes) {
  std::vector<double> c(std::size_t{sizes.rows} * sizes.columns);
  for (std::size_t row = 0; row < sizes.rows; ++row) {
    for (std::size_t k = 0; k < sizes.depth; ++k) {
      const double left = a[row * sizes.depth + k];
      for (std::size_t column = 0; column < sizes.columns; ++column) {
        c[row * sizes.columns + column] += left * b[k * sizes.columns + column];
      }
    }
  }
  return c;
}

std::uint32_t groups(std::uint32_t length) {
  return (length + kTile - 1) / kTile;
}

}  // namespace

Outcome matmul(Gpu& gpu) {
  gpu.load(EXAMPLE_SOURCE);
  const auto pipeline = gpu.pipeline("matmul");
  const Sizes sizes;
  const auto a = random_matrix(std::size_t{sizes.rows} * sizes.depth, 1);
  const auto b = random_matrix(std::size_t{sizes.depth} * sizes.columns, 2);
  const auto a_buffer = gpu.buffer(a);
  const auto b_buffer = gpu.buffer(b);
  const auto c_buffer = gpu.buffer(std::size_t{sizes.rows} * sizes.columns * sizeof(float));

  Outcome outcome;
  outcome.kernel = "matmul";
  outcome.grid = fmt::format("{} x {} x {}", sizes.rows, sizes.columns, sizes.depth);
  outcome.compile_ms = gpu.compile_ms();
  outcome.run_ms = gpu.run([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(a_buffer.get(), 0, 0);
    encoder->setBuffer(b_buffer.get(), 0, 1);
    encoder->setBuffer(c_buffer.get(), 0, 2);
    encoder->setBytes(&sizes, sizeof(sizes), 3);
    encoder->dispatchThreadgroups(MTL::Size(groups(sizes.columns), groups(sizes.rows), 1),
                                  MTL::Size(kTile, kTile, 1));
  });

  const double operations = 2.0 * sizes.rows * sizes.columns * sizes.depth;
  outcome.rate = rate(operations, outcome.run_ms, "FLOP/s");
  const auto expected = reference(a, b, sizes);
  const float* found = contents<float>(c_buffer);
  Difference difference;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference.add(found[i], expected[i]);
  }
  outcome.correct = difference.relative() < 1e-5;
  outcome.check = fmt::format("products differ by {:.2g} of the largest", difference.relative());
  return outcome;
}

}  // namespace examples
