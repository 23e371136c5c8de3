#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>
#include <pewter/random.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <tuple>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

// Products, operations on rows, quantized matrices and random numbers with every type they take.
namespace {

const std::vector<Dtype>& floating_dtypes() {
  static const std::vector<Dtype> types = {Dtype::Float32, Dtype::Float16, Dtype::BFloat16};
  return types;
}

/// What a half may be off by, on top of what float32 is.
double half_unit(Dtype dtype) {
  return dtype == Dtype::Float16 || dtype == Dtype::BFloat16 ? 1 : 0;
}

std::vector<double> product(const std::vector<double>& a,
                            const std::vector<double>& b,
                            std::size_t rows,
                            std::size_t inner,
                            std::size_t columns) {
  std::vector<double> out(rows * columns, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t k = 0; k < inner; ++k) {
        out[r * columns + c] += a[r * inner + k] * b[k * columns + c];
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("products of every type agree with a loop in double") {
  for (const Dtype dtype : every_dtype()) {
    for (const auto& [rows, length, columns] :
         {std::tuple{1, 1, 1}, {1, 33, 31}, {31, 32, 1}, {33, 31, 32}, {5, 1025, 7}, {2, 0, 3}}) {
      CAPTURE(name_of(dtype));
      CAPTURE(rows);
      CAPTURE(length);
      CAPTURE(columns);
      const std::vector<double> a = elements(rows * length, dtype, -4, 4);
      const std::vector<double> b = elements(length * columns, dtype, -4, 4);
      const std::vector<double> expected =
          product(a, b, static_cast<std::size_t>(rows), static_cast<std::size_t>(length),
                  static_cast<std::size_t>(columns));
      const array left = make_array(a, {rows, length}, dtype);
      const array right = make_array(b, {length, columns}, dtype);
      const double absolute = dtype < Dtype::Float16 ? 0 : 16 * 0x1p-24 * length;
      const array made = matmul(left, right);
      CHECK(made.dtype() == (dtype < Dtype::Float16 ? Dtype::Float32 : dtype));
      check_close(made, expected, half_unit(dtype), absolute);
      if (rows == 33) {
        const array turned = transpose(contiguous(transpose(left)));
        check_close(matmul(turned, right), expected, half_unit(dtype), absolute);
        check_close(inner(left, transpose(right)), expected, half_unit(dtype), absolute);
        std::vector<double> added = expected;
        for (double& each : added) {
          each = 2 * each + 3;
        }
        if (dtype == Dtype::Float32 || dtype == Dtype::Int32) {
          check_close(addmm(array(1.0F), left, right, 2, 3), added, 1, absolute * 2);
        }
      }
      if (columns == 31) {
        check_close(outer(left, right),
                    product(a, b, 33, 1,
                            static_cast<std::size_t>(length) * static_cast<std::size_t>(columns)),
                    half_unit(dtype), absolute);
      }
    }
  }
}

TEST_CASE("softmax and norms of every floating-point type agree with loops in double") {
  for (const Dtype dtype : floating_dtypes()) {
    for (const std::int64_t length : sizes()) {
      if (length == 0) {
        CHECK(softmax(zeros({3, 0}, dtype), -1).shape() == Shape{3, 0});
        continue;
      }
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const auto count = static_cast<std::size_t>(length);
      const std::vector<double> values = elements(3 * length, dtype, -2, 2);
      const std::vector<double> weights = elements(length, dtype, 0.5, 1.5);
      const std::vector<double> biases = elements(length, dtype, -1, 1);
      std::vector<double> soft;
      std::vector<double> rms;
      std::vector<double> layer;
      for (std::size_t r = 0; r < 3; ++r) {
        double powers = 0;
        double total = 0;
        double squares = 0;
        for (std::size_t c = 0; c < count; ++c) {
          const double value = values[r * count + c];
          powers += std::exp(value);
          total += value;
          squares += value * value;
        }
        const double mean_of = total / static_cast<double>(length);
        const double mean_square = squares / static_cast<double>(length);
        const double deviation = std::sqrt(mean_square - mean_of * mean_of + 1e-3);
        for (std::size_t c = 0; c < count; ++c) {
          const double value = values[r * count + c];
          soft.push_back(std::exp(value) / powers);
          rms.push_back(value / std::sqrt(mean_square + 1e-3) * weights[c]);
          layer.push_back((value - mean_of) / deviation * weights[c] + biases[c]);
        }
      }
      const array x = make_array(values, {3, length}, dtype);
      const array w = make_array(weights, {length}, dtype);
      const array b = make_array(biases, {length}, dtype);
      const double half = half_unit(dtype);
      const double tiny = half > 0 ? 0x1p-24 : 1e-9;
      check_close(softmax(x, -1), soft, 8 + half, tiny);
      check_close(contiguous(transpose(softmax(contiguous(transpose(x)), 0))), soft, 8 + half,
                  tiny);
      // The product with the weight is of a rounded number.
      check_close(fast::rms_norm(x, w, 1e-3F), rms, 8 + half, 1e-6);
      check_close(fast::layer_norm(x, w, b, 1e-3F), layer, 8 + half, 4e-6);
    }
  }
  for (const Dtype dtype : all_dtypes()) {
    if (dtype < Dtype::Float16) {
      CHECK(softmax(ones({4}, dtype), -1).to_vector<float>() == std::vector<float>(4, 0.25F));
    }
  }
  CHECK_THROWS_AS(softmax(zeros({2}, Dtype::Complex64), 0), std::invalid_argument);
}

TEST_CASE("rotary positions of every floating-point type, both ways, with an offset") {
  for (const Dtype dtype : floating_dtypes()) {
    for (const bool traditional : {false, true}) {
      for (const std::int64_t length : {1, 33}) {
        CAPTURE(name_of(dtype));
        CAPTURE(traditional);
        constexpr std::int64_t kWidth = 70;
        constexpr std::int64_t kDims = 64;
        const std::vector<double> values = elements(2 * length * kWidth, dtype, -2, 2);
        std::vector<double> expected = values;
        for (std::int64_t row = 0; row < 2 * length; ++row) {
          double* at = expected.data() + row * kWidth;
          for (std::int64_t i = 0; i < kDims / 2; ++i) {
            const double angle = static_cast<double>(row % length + 3) * 0.5 *
                                 std::pow(10000.0, -2 * static_cast<double>(i) / kDims);
            double& first = at[traditional ? 2 * i : i];
            double& second = at[traditional ? 2 * i + 1 : i + kDims / 2];
            const double a = first;
            const double b = second;
            first = a * std::cos(angle) - b * std::sin(angle);
            second = a * std::sin(angle) + b * std::cos(angle);
          }
        }
        const array x = make_array(values, {2, length, kWidth}, dtype);
        check_close(fast::rope(x, kDims, traditional, 10000.0F, 0.5F, 3), expected,
                    half_unit(dtype) * 0.5, 2e-5);
        const array freqs = exp(arange(0, 32, 1, Dtype::Float32) * (std::log(10000.0F) / 32));
        check_close(fast::rope(x, kDims, traditional, std::nullopt, 0.5F, 3, freqs), expected,
                    half_unit(dtype) * 0.5, 2e-5);
      }
    }
  }
}

TEST_CASE("attention of every floating-point type, any lengths, masked and not") {
  for (const Dtype dtype : floating_dtypes()) {
    for (const auto& [queries, keys, width] :
         {std::tuple{1, 33, 32}, {7, 31, 8}, {33, 33, 64}, {5, 130, 5}}) {
      for (const char* mode : {"", "causal", "mask"}) {
        CAPTURE(name_of(dtype));
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(mode);
        const std::string way = mode;
        constexpr std::size_t kHeads = 4;
        constexpr std::size_t kShared = 2;
        const std::vector<double> q = elements(kHeads * queries * width, dtype, -1, 1);
        const std::vector<double> k = elements(kHeads / kShared * keys * width, dtype, -1, 1);
        const std::vector<double> v = elements(kHeads / kShared * keys * 3, dtype, -1, 1);
        const std::vector<double> mask = elements(queries * keys, dtype, -2, 2);
        const auto depth = static_cast<std::size_t>(width);
        const auto count = static_cast<std::size_t>(keys);
        std::vector<double> expected;
        for (std::size_t h = 0; h < kHeads; ++h) {
          for (std::size_t i = 0; i < static_cast<std::size_t>(queries); ++i) {
            const std::size_t row = h * static_cast<std::size_t>(queries) + i;
            const std::size_t head = h / kShared * count;
            std::vector<double> weight(count, 0);
            double total = 0;
            for (std::size_t j = 0; j < count; ++j) {
              if (way == "causal" && j + static_cast<std::size_t>(queries) > i + count) {
                continue;
              }
              double score = 0;
              for (std::size_t d = 0; d < depth; ++d) {
                score += q[row * depth + d] * k[(head + j) * depth + d];
              }
              weight[j] = std::exp(0.25 * score + (way == "mask" ? mask[i * count + j] : 0));
              total += weight[j];
            }
            for (std::size_t d = 0; d < 3; ++d) {
              double sum_of = 0;
              for (std::size_t j = 0; j < count; ++j) {
                sum_of += weight[j] / total * v[(head + j) * 3 + d];
              }
              expected.push_back(sum_of);
            }
          }
        }
        const std::optional<array> given =
            way == "mask" ? std::optional(make_array(mask, {queries, keys}, dtype)) : std::nullopt;
        const array result = fast::scaled_dot_product_attention(
            make_array(q, {1, kHeads, queries, width}, dtype),
            make_array(k, {1, kHeads / kShared, keys, width}, dtype),
            make_array(v, {1, kHeads / kShared, keys, 3}, dtype), 0.25F,
            way == "causal" ? "causal" : "", given);
        CHECK(result.dtype() == dtype);
        CHECK(result.shape() == Shape{1, kHeads, queries, 3});
        check_close(result, expected, half_unit(dtype), 2e-6);
      }
    }
  }
}

TEST_CASE("quantized matrices of every floating-point type, width and group") {
  for (const Dtype dtype : floating_dtypes()) {
    for (const int bits : {2, 4, 8}) {
      for (const int group : {32, 64, 128}) {
        CAPTURE(name_of(dtype));
        CAPTURE(bits);
        CAPTURE(group);
        constexpr std::int64_t kRows = 33;
        constexpr std::int64_t kColumns = 256;
        const std::vector<double> values = elements(kRows * kColumns, dtype, -1, 1);
        const auto parts = quantize(make_array(values, {kRows, kColumns}, dtype), group, bits);
        const std::vector<double> scales = read(parts[1]);
        const std::vector<double> biases = read(parts[2]);
        const auto words = parts[0].to_vector<std::uint32_t>();
        std::vector<double> matrix;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto per_word = static_cast<std::size_t>(32 / bits);
          const std::uint32_t level =
              words[i / per_word] >> (i % per_word * static_cast<std::size_t>(bits)) &
              ((1U << static_cast<unsigned>(bits)) - 1);
          const std::size_t place = i / static_cast<std::size_t>(group);
          matrix.push_back(scales[place] * level + biases[place]);
          const double step = std::abs(scales[place]);
          CHECK(std::abs(matrix.back() - values[i]) <= step * 1.01 + epsilon(dtype) * 4);
        }
        check_close(dequantize(parts[0], parts[1], parts[2], group, bits), matrix, half_unit(dtype),
                    1e-6);
        const std::vector<double> x = elements(3 * kColumns, dtype, -1, 1);
        std::vector<double> turned(matrix.size());
        for (std::size_t r = 0; r < kRows; ++r) {
          for (std::size_t c = 0; c < kColumns; ++c) {
            turned[c * kRows + r] = matrix[r * kColumns + c];
          }
        }
        check_close(quantized_matmul(make_array(x, {3, kColumns}, dtype), parts[0], parts[1],
                                     parts[2], true, group, bits),
                    product(x, turned, 3, kColumns, kRows), half_unit(dtype), 1e-4);
        const std::vector<double> y = elements(2 * kRows, dtype, -1, 1);
        check_close(quantized_matmul(make_array(y, {2, kRows}, dtype), parts[0], parts[1], parts[2],
                                     false, group, bits),
                    product(y, matrix, 2, kRows, kColumns), half_unit(dtype), 1e-4);
      }
    }
  }
}

TEST_CASE("random numbers of every type that has them, in any amount") {
  const array key = random::key(7);
  for (const std::int64_t count : sizes()) {
    const auto length = static_cast<std::size_t>(count);
    for (const Dtype dtype : floating_dtypes()) {
      CAPTURE(name_of(dtype));
      CAPTURE(count);
      for (const double value : read(random::uniform({count}, dtype, key))) {
        CHECK((value >= 0 && value < 1));
      }
      for (const double value :
           read(random::truncated_normal(array(-1.0F), array(2.0F), {count}, dtype, key))) {
        CHECK((value >= -1 && value <= 2));
      }
      const std::vector<double> normal = read(random::normal({count}, dtype, 0, 1, key));
      const std::vector<double> gumbel = read(random::gumbel({count}, dtype, key));
      CHECK(normal.size() == length);
      double total = 0;
      for (std::size_t i = 0; i < length; ++i) {
        CHECK(std::isfinite(normal[i]));
        CHECK(std::isfinite(gumbel[i]));
        total += normal[i];
      }
      // Within five deviations of the mean of so many.
      CHECK(std::abs(total) <= 5 * std::sqrt(static_cast<double>(count)) + 1e-9);
    }
  }
  for (const Dtype dtype : all_dtypes()) {
    if (is_integer(dtype)) {
      CAPTURE(name_of(dtype));
      const std::vector<double> drawn = read(random::randint(3, 9, {1025}, dtype, key));
      CHECK(std::set<double>(drawn.begin(), drawn.end()) == std::set<double>{3, 4, 5, 6, 7, 8});
    }
  }
}
