#include "examples/mandelbrot/mandelbrot.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "examples/support/png.h"

namespace examples {
namespace {

constexpr std::uint32_t kWidth = 960;
constexpr std::uint32_t kHeight = 640;
constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;
constexpr double kOperationsPerStep = 9;

/// `View` of mandelbrot.metal.
struct View {
  float centre[2] = {-0.65f, 0};
  float pixel = 3.3f / kWidth;
  std::uint32_t limit = 256;
};

double reference(const View& view, std::uint32_t x, std::uint32_t y) {
  const double cx = view.centre[0] + view.pixel * (x - 0.5 * kWidth);
  const double cy = view.centre[1] + view.pixel * (y - 0.5 * kHeight);
  double zx = 0;
  double zy = 0;
  std::uint32_t step = 0;
  while (zx * zx + zy * zy < 256 && step < view.limit) {
    const double next = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = next;
    ++step;
  }
  return step == view.limit ? view.limit : step + 4 - std::log2(std::log2(zx * zx + zy * zy));
}

/// How many pixels are off by more than a tenth of a step. One in 200 may be: at the edge of the
/// set a rounding error grows with every step.
std::size_t count_different(const View& view, const float* steps) {
  std::size_t different = 0;
  for (std::uint32_t y = 0; y < kHeight; ++y) {
    for (std::uint32_t x = 0; x < kWidth; ++x) {
      const double found = steps[y * std::size_t{kWidth} + x];
      different += std::abs(found - reference(view, x, y)) <= 0.1 ? 0 : 1;
    }
  }
  return different;
}

double total_steps(const float* steps) {
  double total = 0;
  for (std::size_t i = 0; i < kPixels; ++i) {
    total += steps[i];
  }
  return total;
}

}  // namespace

Outcome mandelbrot(Gpu& gpu, const std::string& folder) {
  gpu.load(EXAMPLE_SOURCE);
  const auto iterate = gpu.pipeline("mandelbrot");
  const auto paint = gpu.pipeline("paint");
  const auto steps = gpu.buffer(kPixels * sizeof(float));
  const auto pixels = gpu.buffer(kPixels * 4);
  const View view;

  Outcome outcome;
  outcome.kernel = "mandelbrot";
  outcome.grid = fmt::format("{} x {}", kWidth, kHeight);
  outcome.compile_ms = gpu.compile_ms();
  outcome.run_ms = gpu.run([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(iterate.get());
    encoder->setBuffer(steps.get(), 0, 0);
    encoder->setBytes(&view, sizeof(view), 1);
    encoder->dispatchThreads(MTL::Size(kWidth, kHeight, 1), MTL::Size(16, 16, 1));
  });
  gpu.run([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(paint.get());
    encoder->setBuffer(steps.get(), 0, 0);
    encoder->setBuffer(pixels.get(), 0, 1);
    encoder->setBytes(&view, sizeof(view), 2);
    encoder->dispatchThreads(MTL::Size(kPixels, 1, 1), MTL::Size(256, 1, 1));
  });

  const float* found = contents<float>(steps);
  outcome.rate = rate(total_steps(found) * kOperationsPerStep, outcome.run_ms, "FLOP/s");
  const std::size_t different = count_different(view, found);
  outcome.correct = different <= kPixels / 200;
  outcome.check = fmt::format("{} of {} pixels are off by more than 0.1 steps", different, kPixels);

  const auto* bytes = contents<std::uint8_t>(pixels);
  outcome.file = folder + "/mandelbrot.png";
  write_png(outcome.file, {bytes, bytes + kPixels * 4}, kWidth, kHeight);
  return outcome;
}

}  // namespace examples
