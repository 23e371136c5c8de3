#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

using pewter::array;
using pewter::Dtype;
using pewter::ones;
using pewter::Shape;
using pewter::zeros;

namespace {

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) {
    value = distribution(engine);
  }
  return values;
}

std::vector<float> floats(const array& x) {
  return astype(x, Dtype::Float32).to_vector<float>();
}

/// x @ w or x @ transpose(w) in double.
std::vector<double> product(const std::vector<float>& x,
                            const std::vector<float>& w,
                            std::size_t rows,
                            std::size_t inner,
                            std::size_t columns,
                            bool transpose) {
  std::vector<double> out(rows * columns, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t i = 0; i < inner; ++i) {
        out[r * columns + c] +=
            static_cast<double>(x[r * inner + i]) * w[transpose ? c * inner + i : i * columns + c];
      }
    }
  }
  return out;
}

double difference(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  return worst;
}

}  // namespace

TEST_CASE("a quantized matrix comes back within half a step, for every width and group") {
  const std::vector<float> values = noise(4 * 256, 1);
  for (const int bits : {2, 4, 8}) {
    for (const int group : {32, 64, 128}) {
      CAPTURE(bits);
      CAPTURE(group);
      const auto parts = quantize(array(values, Shape{4, 256}), group, bits);
      CHECK(parts[0].shape() == Shape{4, 256 * bits / 32});
      CHECK(parts[0].dtype() == Dtype::UInt32);
      CHECK(parts[1].shape() == Shape{4, 256 / group});
      const auto back = floats(dequantize(parts[0], parts[1], parts[2], group, bits));
      const std::vector<double> expected(values.begin(), values.end());
      // A range of 2 in 2^bits - 1 steps; meeting the ends may take as much again.
      CHECK(difference(back, expected) < 2.0 / ((1 << bits) - 1));
    }
  }
}

TEST_CASE("elements that are levels already are kept exactly, the first in the lowest bits") {
  std::vector<float> levels(32);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = static_cast<float>(i % 16) - 15;
  }
  const auto parts = quantize(array(levels, Shape{1, 32}), 32, 4);
  CHECK(floats(dequantize(parts[0], parts[1], parts[2], 32, 4)) == levels);
  CHECK(floats(parts[1]) == std::vector<float>{1});
  CHECK(floats(parts[2]) == std::vector<float>{-15});
  CHECK(parts[0].to_vector<std::uint32_t>()[0] == 0x76543210);
}

TEST_CASE("products with quantized matrices are those with the matrices they stand for") {
  const std::size_t inner = 128;
  for (const bool transpose : {true, false}) {
    for (const int bits : {2, 4, 8}) {
      for (const std::size_t rows : {1, 3, 20}) {
        CAPTURE(transpose);
        CAPTURE(bits);
        CAPTURE(rows);
        const std::size_t columns = transpose ? 33 : 192;
        const Shape shape = transpose ? Shape{33, 128} : Shape{128, 192};
        const auto parts = quantize(array(noise(columns * inner, 2), shape), 64, bits);
        const auto matrix = floats(dequantize(parts[0], parts[1], parts[2], 64, bits));
        const auto x = noise(rows * inner, 3);
        const array out = quantized_matmul(array(x, Shape{static_cast<std::int64_t>(rows), 128}),
                                           parts[0], parts[1], parts[2], transpose, 64, bits);
        CHECK(out.shape() ==
              Shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
        CHECK(difference(floats(out), product(x, matrix, rows, inner, columns, transpose)) < 1e-4);
      }
    }
  }
}

TEST_CASE("half precision is taken, and vectors are") {
  const array w = astype(array(noise(64 * 64, 4), Shape{64, 64}), Dtype::Float16);
  const auto parts = quantize(w, 64, 4);
  CHECK(parts[1].dtype() == Dtype::Float16);
  const auto matrix = floats(dequantize(parts[0], parts[1], parts[2], 64, 4));
  const auto x = floats(astype(array(noise(64, 5)), Dtype::Float16));
  const array out =
      quantized_matmul(astype(array(x), Dtype::Float16), parts[0], parts[1], parts[2]);
  CHECK(out.shape() == Shape{64});
  CHECK(out.dtype() == Dtype::Float16);
  CHECK(difference(floats(out), product(x, matrix, 1, 64, 64, true)) < 0.05);
}

TEST_CASE("a product with a quantized matrix has the type of both, as MLX has it") {
  const array w = astype(array(noise(64 * 64, 4), Shape{64, 64}), Dtype::Float16);
  const auto parts = quantize(w, 64, 4);
  const auto wide = [](const array& a) { return astype(a, Dtype::Float32); };
  const auto matrix = floats(dequantize(parts[0], wide(parts[1]), wide(parts[2]), 64, 4));
  const std::vector<float> x = noise(64, 5);
  const array out = quantized_matmul(array(x), parts[0], parts[1], parts[2]);
  CHECK(out.dtype() == Dtype::Float32);
  CHECK(difference(floats(out), product(x, matrix, 1, 64, 64, true)) < 1e-4);
  CHECK_THROWS_AS(quantized_matmul(zeros({64}, Dtype::Complex64), parts[0], parts[1], parts[2]),
                  std::invalid_argument);
}

TEST_CASE("parts that do not belong together are refused") {
  const array w(noise(64, 1), Shape{1, 64});
  CHECK_THROWS_AS(quantize(w, 48, 4), std::invalid_argument);
  CHECK_THROWS_AS(quantize(w, 64, 3), std::invalid_argument);
  CHECK_THROWS_AS(quantize(array(noise(65, 1), Shape{1, 65}), 64, 4), std::invalid_argument);
  CHECK_THROWS_AS(quantize(array{1, 2}, 64, 4), std::invalid_argument);
  const auto parts = quantize(w, 64, 4);
  CHECK_THROWS_AS(dequantize(w, parts[1], parts[2]), std::invalid_argument);
  CHECK_THROWS_AS(dequantize(parts[0], parts[1], parts[2], 32), std::invalid_argument);
  CHECK_THROWS_AS(quantized_matmul(array{1.0F}, parts[0], parts[1], parts[2]),
                  std::invalid_argument);
}

TEST_CASE("rows that groups do not fill are refused") {
  const array none = zeros({2, 0});
  CHECK_THROWS_WITH_AS(dequantize(zeros({2, 3}, Dtype::UInt32), none, none, 32, 4),
                       "[dequantize] a quantized matrix uint32[2, 3] has rows of 24 elements of 4 "
                       "bits, which groups of 32 do not fill",
                       std::invalid_argument);
  const array one = ones({2, 1});
  CHECK_THROWS_AS(dequantize(zeros({2, 5}, Dtype::UInt32), one, one, 32, 4), std::invalid_argument);
  CHECK_THROWS_AS(
      quantized_matmul(ones({1, 24}), zeros({2, 3}, Dtype::UInt32), none, none, true, 32, 4),
      std::invalid_argument);
}

TEST_CASE("batches of quantized matrices are multiplied as batches of matrices are") {
  const array w(noise(std::size_t{2} * 64 * 64, 6), Shape{2, 64, 64});
  const auto parts = quantize(w, 32, 8);
  const array matrices = dequantize(parts[0], parts[1], parts[2], 32, 8);
  for (const Shape& shape : {Shape{64}, Shape{3, 64}, Shape{2, 3, 64}, Shape{5, 1, 3, 64}}) {
    const array x(noise(zeros(shape).size(), 7), shape);
    for (const bool transpose : {true, false}) {
      const array expected = matmul(x, transpose ? swapaxes(matrices, -1, -2) : matrices);
      const array out = quantized_matmul(x, parts[0], parts[1], parts[2], transpose, 32, 8);
      CHECK(out.shape() == expected.shape());
      CHECK(allclose(out, expected).item<bool>());
    }
  }
  CHECK_THROWS_AS(quantized_matmul(zeros({3, 2, 64}), parts[0], parts[1], parts[2], true, 32, 8),
                  std::invalid_argument);
}
