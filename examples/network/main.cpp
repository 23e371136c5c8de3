// Inference with a network of two layers. Its weights come from a .safetensors file, which the
// program writes first; what it computes is compared with plain loops.
#include <pewter/eval.h>
#include <pewter/files.h>
#include <pewter/ops.h>
#include <pewter/random.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

using namespace pewter;

namespace {

constexpr std::int64_t kBatch = 100;
constexpr std::int64_t kInputs = 64;
constexpr std::int64_t kHidden = 48;
constexpr std::int64_t kClasses = 10;

NamedArrays random_weights() {
  const array keys = random::split(random::key(7), 4);
  const auto weights = [&](std::int64_t index, const Shape& shape, float deviation) {
    const array key = reshape(slice(keys, {index, 0}, {index + 1, 2}), {2});
    return random::normal(shape, Dtype::Float32, 0, deviation, key);
  };
  return {{"first.weight", weights(0, {kInputs, kHidden}, 0.2F)},
          {"first.bias", weights(1, {kHidden}, 0.1F)},
          {"second.weight", weights(2, {kHidden, kClasses}, 0.2F)},
          {"second.bias", weights(3, {kClasses}, 0.1F)}};
}

/// The probability of each class, for each row of x.
array probabilities(const NamedArrays& weights, const array& x) {
  const array sums = matmul(x, weights.at("first.weight")) + weights.at("first.bias");
  const array hidden = maximum(sums, array(0.0F));
  return softmax(matmul(hidden, weights.at("second.weight")) + weights.at("second.bias"), -1);
}

/// One layer for one row, in double.
std::vector<double> layer(const std::vector<double>& x, const array& weight, const array& bias) {
  const std::vector<float> w = weight.to_vector<float>();
  const std::vector<float> b = bias.to_vector<float>();
  std::vector<double> out(b.begin(), b.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < out.size(); ++j) {
      out[j] += x[i] * w[i * out.size() + j];
    }
  }
  return out;
}

std::vector<double> reference(const NamedArrays& weights, const float* row) {
  const std::vector<double> x(row, row + kInputs);
  std::vector<double> hidden = layer(x, weights.at("first.weight"), weights.at("first.bias"));
  for (double& value : hidden) {
    value = std::max(value, 0.0);
  }
  std::vector<double> out = layer(hidden, weights.at("second.weight"), weights.at("second.bias"));
  double total = 0;
  for (double& value : out) {
    value = std::exp(value);
    total += value;
  }
  for (double& value : out) {
    value /= total;
  }
  return out;
}

int run() {
  save_safetensors("network.safetensors", random_weights(), {{"layers", "2"}});
  const NamedArrays weights = load_safetensors("network.safetensors").arrays;
  const array x = random::normal({kBatch, kInputs}, Dtype::Float32, 0, 1, random::key(8));

  const array chances = probabilities(weights, x);
  const array classes = argmax(chances, -1);
  eval(chances, classes);

  const std::vector<float> inputs = x.to_vector<float>();
  const std::vector<float> found = chances.to_vector<float>();
  double difference = 0;
  for (std::int64_t row = 0; row < kBatch; ++row) {
    const std::vector<double> expected = reference(weights, inputs.data() + row * kInputs);
    for (std::int64_t i = 0; i < kClasses; ++i) {
      const double chance = found[static_cast<std::size_t>(row * kClasses + i)];
      difference = std::max(difference, std::abs(chance - expected[static_cast<std::size_t>(i)]));
    }
  }
  std::printf("class of the first row: %u, largest difference: %.1e\n",
              classes.to_vector<std::uint32_t>()[0], difference);
  return difference < 1e-5 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "network: %s\n", error.what());
    return 1;
  }
}
