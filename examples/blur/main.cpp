// Blurs an image with a Gaussian, first along the rows and then along the columns, and writes the
// picture before and after.
#include <pewter/eval.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "examples/support/png.h"

using namespace pewter;

namespace {

constexpr int kSize = 256;
constexpr int kRadius = 6;

/// A checkerboard with a bright disc.
std::vector<float> picture() {
  std::vector<float> pixels(static_cast<std::size_t>(kSize) * kSize);
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      const bool is_dark = (x / 16 + y / 16) % 2 == 0;
      const bool is_disc = std::hypot(x - 128.0, y - 128.0) < 60;
      pixels[static_cast<std::size_t>(y) * kSize + static_cast<std::size_t>(x)] =
          is_disc ? 1.0F : (is_dark ? 0.1F : 0.6F);
    }
  }
  return pixels;
}

std::vector<float> gaussian() {
  std::vector<float> weights;
  float total = 0;
  for (int i = -kRadius; i <= kRadius; ++i) {
    const auto distance = static_cast<float>(i);
    weights.push_back(std::exp(-distance * distance / 18.0F));
    total += weights.back();
  }
  for (float& weight : weights) {
    weight /= total;
  }
  return weights;
}

/// Adds shifted copies along an axis; outside the image the edge goes on.
array blurred(const array& image, const std::vector<float>& weights, int axis) {
  std::vector<std::pair<int, int>> widths(2, {0, 0});
  widths[static_cast<std::size_t>(axis)] = {kRadius, kRadius};
  const array padded = pad(image, widths, array(0.0F), "edge");
  array total = zeros_like(image);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Shape start = {0, 0};
    Shape stop = {kSize, kSize};
    start[static_cast<std::size_t>(axis)] += static_cast<std::int64_t>(i);
    stop[static_cast<std::size_t>(axis)] += static_cast<std::int64_t>(i);
    total = total + slice(padded, start, stop) * weights[i];
  }
  return total;
}

/// One pixel by a plain double loop.
double reference(const std::vector<float>& image, const std::vector<float>& weights, int x, int y) {
  double total = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const int px = std::clamp(x + dx, 0, kSize - 1);
      const int py = std::clamp(y + dy, 0, kSize - 1);
      total += static_cast<double>(weights.data()[dx + kRadius]) * weights.data()[dy + kRadius] *
               image[static_cast<std::size_t>(py) * kSize + static_cast<std::size_t>(px)];
    }
  }
  return total;
}

void write(const std::string& path, const std::vector<float>& image) {
  std::vector<std::uint8_t> pixels;
  for (const float value : image) {
    const auto grey = static_cast<std::uint8_t>(std::lround(value * 255));
    pixels.insert(pixels.end(), {grey, grey, grey, std::uint8_t{255}});
  }
  examples::write_png(path, pixels, kSize, kSize);
}

int run() {
  const std::vector<float> image = picture();
  const std::vector<float> weights = gaussian();
  const array input(image, Shape{kSize, kSize});
  const std::vector<float> result =
      blurred(blurred(input, weights, 1), weights, 0).to_vector<float>();

  double difference = 0;
  for (int y = 0; y < kSize; y += 5) {
    for (int x = 0; x < kSize; x += 3) {
      const std::size_t at = static_cast<std::size_t>(y) * kSize + static_cast<std::size_t>(x);
      difference = std::max(difference, std::abs(result[at] - reference(image, weights, x, y)));
    }
  }
  write("picture.png", image);
  write("blurred.png", result);
  std::printf("blurred.png written, largest difference: %.1e\n", difference);
  return difference < 1e-5 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "blur: %s\n", error.what());
    return 1;
  }
}
