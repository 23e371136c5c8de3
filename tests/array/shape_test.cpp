#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "pewter/array/evaluation/iteration.h"
#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

array counted(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) {
    count *= length;
  }
  return reshape(arange(static_cast<int>(count)), shape);
}

std::vector<std::int32_t> ints(const array& a) {
  return contiguous(a).to_vector<std::int32_t>();
}

using Ints = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("arrays are made from ranges and single values") {
  CHECK(ints(arange(5)) == Ints{0, 1, 2, 3, 4});
  CHECK(ints(arange(2, 11, 3)) == Ints{2, 5, 8});
  CHECK(ints(arange(3, 0, -1)) == Ints{3, 2, 1});
  CHECK(arange(0).size() == 0);
  check_close(arange(0.5, 2.0, 0.25, Dtype::Float32), {0.5, 0.75, 1, 1.25, 1.5, 1.75}, 0);
  check_close(linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1}, 1);
  check_close(full({2, 2}, array(3.5F)), {3.5, 3.5, 3.5, 3.5}, 0);
  check_close(ones({3}, Dtype::UInt8), {1, 1, 1}, 0);
  check_close(eye(2, 3, 1), {0, 1, 0, 0, 0, 1}, 0);
  check_close(tri(3, 3), {1, 0, 0, 1, 1, 0, 1, 1, 1}, 0);
  CHECK(ints(tril(counted({2, 2}))) == Ints{0, 0, 2, 3});
  CHECK(ints(triu(counted({2, 2}))) == Ints{0, 1, 0, 3});
  CHECK(ints(diag(array({7, 8}), 1)) == Ints{0, 7, 0, 0, 0, 8, 0, 0, 0});
  CHECK(ints(diagonal(counted({3, 3}), -1)) == Ints{3, 7});
  CHECK_THROWS_AS(arange(0, 5, 0), std::invalid_argument);
  CHECK_THROWS_AS(arange(0.0, 1e12, 1.0), std::invalid_argument);
}

TEST_CASE("reshaping copies only when strides do not allow a view") {
  const array x = counted({4, 6});
  CHECK(reshape(x, {2, -1}).shape() == Shape{2, 12});
  CHECK(reshape(x, {3, 8}).node().base == x.node().base);
  const array half = slice(x, {0, 0}, {4, 6}, {1, 2});
  const array split_axis = reshape(half, {2, 2, 3});
  CHECK(split_axis.node().base != nullptr);
  CHECK(ints(split_axis) == Ints{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
  CHECK(ints(reshape(transpose(x), {8, 3})) ==
        Ints{0, 6, 12, 18, 1, 7, 13, 19, 2, 8, 14, 20, 3, 9, 15, 21, 4, 10, 16, 22, 5, 11, 17, 23});
  CHECK_THROWS_WITH_AS(reshape(x, {5, 5}), "[reshape] the shape [4, 6] with 24 elements as [5, 5]",
                       std::invalid_argument);
  CHECK_THROWS_AS(reshape(x, {-1, -1}), std::invalid_argument);
  CHECK(flatten(counted({2, 3, 4}), 1, 2).shape() == Shape{2, 12});
  CHECK(unflatten(x, 1, {2, -1}).shape() == Shape{4, 2, 3});
}

TEST_CASE("axes are moved, added and removed") {
  const array x = counted({2, 3, 4});
  CHECK(transpose(x).shape() == Shape{4, 3, 2});
  CHECK(transpose(x, {1, 2, 0}).shape() == Shape{3, 4, 2});
  CHECK(swapaxes(x, 0, -1).shape() == Shape{4, 3, 2});
  CHECK(moveaxis(x, 0, 2).shape() == Shape{3, 4, 2});
  CHECK(expand_dims(x, Axes{0, -1}).shape() == Shape{1, 2, 3, 4, 1});
  CHECK(squeeze(expand_dims(x, Axes{0, -1})).shape() == x.shape());
  CHECK(ints(transpose(counted({2, 3}))) == Ints{0, 3, 1, 4, 2, 5});
  CHECK_THROWS_AS(transpose(x, {0, 0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(squeeze(x, 0), std::invalid_argument);
  CHECK_THROWS_AS(expand_dims(x, 5), std::invalid_argument);
}

TEST_CASE("slices count from the end, step backwards and are clamped") {
  const array x = counted({5});
  CHECK(ints(slice(x, {1}, {4})) == Ints{1, 2, 3});
  CHECK(ints(slice(x, {-3}, {100})) == Ints{2, 3, 4});
  CHECK(ints(slice(x, {-1}, {-100}, {-1})) == Ints{4, 3, 2, 1, 0});
  CHECK(ints(slice(x, {3}, {0}, {-2})) == Ints{3, 1});
  CHECK(slice(x, {3}, {1}).size() == 0);
  CHECK_THROWS_AS(slice(x, {0, 0}, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(slice(x, {0}, {1}, {0}), std::invalid_argument);
  CHECK(ints(slice_update(x, array({10, 20}), {1}, {5}, {3})) == Ints{0, 10, 2, 3, 20});
  CHECK(ints(x) == Ints{0, 1, 2, 3, 4});
}

TEST_CASE("arrays are joined, split, repeated and shifted") {
  const array a = counted({2, 2});
  const array b = a + 10;
  CHECK(ints(concatenate({a, b})) == Ints{0, 1, 2, 3, 10, 11, 12, 13});
  CHECK(ints(concatenate({a, b}, 1)) == Ints{0, 1, 10, 11, 2, 3, 12, 13});
  CHECK(ints(concatenate({a, transpose(b)}, -1)) == Ints{0, 1, 10, 12, 2, 3, 11, 13});
  CHECK(stack({a, b}, 2).shape() == Shape{2, 2, 2});
  CHECK(ints(stack({a, b}, 2)) == Ints{0, 10, 1, 11, 2, 12, 3, 13});
  CHECK(concatenate({a, astype(b, Dtype::Float16)}).dtype() == Dtype::Float16);
  const std::vector<array> parts = split(counted({6}), 3);
  CHECK(ints(parts[1]) == Ints{2, 3});
  CHECK(ints(split(counted({6}), Shape{1, 4})[1]) == Ints{1, 2, 3});
  CHECK(ints(tile(array({1, 2}), {2, 2})) == Ints{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(ints(repeat(array({1, 2}), 2, 0)) == Ints{1, 1, 2, 2});
  CHECK(ints(repeat(a, 2, 1)) == Ints{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(ints(roll(counted({5}), 2)) == Ints{3, 4, 0, 1, 2});
  CHECK(ints(roll(a, -1, 1)) == Ints{1, 0, 3, 2});
  CHECK(ints(pad(a, {{1, 0}, {0, 1}}, array(9))) == Ints{9, 9, 9, 0, 1, 9, 2, 3, 9});
  CHECK(ints(pad(array({1, 2}), {{2, 1}}, array(0), "edge")) == Ints{1, 1, 1, 2, 2});
  CHECK_THROWS_AS(concatenate({a, counted({3, 3})}), std::invalid_argument);
  CHECK_THROWS_AS(split(counted({5}), 2), std::invalid_argument);
}

TEST_CASE("bytes are seen as another type") {
  const array x({1.0F, -2.0F});
  CHECK(view(x, Dtype::UInt32).to_vector<std::uint32_t>() ==
        std::vector<std::uint32_t>{0x3f800000, 0xc0000000});
  CHECK(view(x, Dtype::UInt8).shape() == Shape{8});
  CHECK(view(view(x + 0.0F, Dtype::UInt16), Dtype::Float32).to_vector<float>() ==
        std::vector<float>{1, -2});
  CHECK_THROWS_AS(view(ones({3}, Dtype::UInt8), Dtype::Float32), std::invalid_argument);
}

TEST_CASE("elements are taken by index") {
  const array x = counted({3, 4});
  CHECK(ints(take(x, array({2, 0, -1}), 0)) == Ints{8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  CHECK(ints(take(x, array({{3, 0}}), 1)) == Ints{3, 0, 7, 4, 11, 8});
  CHECK(take(x, array({{3, 0}}), 1).shape() == Shape{3, 1, 2});
  CHECK(ints(take(x, array({5, -1}))) == Ints{5, 11});
  CHECK(ints(take(counted({3, 64}), array({1}), 0)).size() == 64);
  CHECK(ints(take_along_axis(x, array({{1}, {0}, {3}}), 1)) == Ints{1, 4, 11});
  CHECK(ints(put_along_axis(x, array({{1}, {0}, {3}}), array(-1), 1)) ==
        Ints{0, -1, 2, 3, -1, 5, 6, 7, 8, 9, 10, -1});
  CHECK(ints(scatter_add_axis(zeros({4}, Dtype::Int32), array({1, 1, 3}), array({5, 6, 7}), 0)) ==
        Ints{0, 11, 0, 7});
  CHECK_THROWS_AS(take(x, array({1.0F}), 0), std::invalid_argument);
  CHECK_THROWS_AS(take(zeros({0}), array({0}), 0), std::invalid_argument);
}

TEST_CASE("slices are gathered and scattered") {
  const array x = counted({3, 4});
  CHECK(ints(gather(x, {array({2, 0})}, {0}, {1, 4})) == Ints{8, 9, 10, 11, 0, 1, 2, 3});
  CHECK(gather(x, {array({2, 0})}, {0}, {1, 4}).shape() == Shape{2, 1, 4});
  CHECK(ints(gather(x, {array({2, 0}), array({1, 3})}, {0, 1}, {1, 1})) == Ints{9, 3});
  CHECK(ints(scatter(x, {array({1})}, full({1, 1, 4}, array(-1)), {0})) ==
        Ints{0, 1, 2, 3, -1, -1, -1, -1, 8, 9, 10, 11});
  const array counts =
      scatter_add(zeros({4}, Dtype::Int32), {array({1, 1, 3})}, ones({3, 1}, Dtype::Int32), {0});
  CHECK(ints(counts) == Ints{0, 2, 0, 1});
  CHECK(ints(scatter_max(zeros({2}, Dtype::Int32), {array({0, 0})}, array({{5}, {3}}), {0})) ==
        Ints{5, 0});
  CHECK(ints(scatter_prod(ones({2}, Dtype::Int32), {array({1, 1})}, array({{5}, {3}}), {0})) ==
        Ints{1, 15});
  CHECK(ints(scatter_min(ones({2}, Dtype::Int32), {array({1})}, array({{-5}}), {0})) ==
        Ints{1, -5});
}

TEST_CASE("products of matrices agree with a loop in double") {
  for (const auto& [rows, inner_length, columns] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 1, 1},
        {3, 5, 2},
        {33, 31, 65},
        {1, 100, 40},
        {40, 100, 1},
        {70, 90, 80}}) {
    const std::vector<double> a =
        numbers(static_cast<std::size_t>(rows * inner_length), -1, 1, Dtype::Float32);
    const std::vector<double> b =
        numbers(static_cast<std::size_t>(inner_length * columns), -1, 1, Dtype::Float32);
    std::vector<double> expected;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        double total = 0;
        for (std::int64_t k = 0; k < inner_length; ++k) {
          total += a[static_cast<std::size_t>(r * inner_length + k)] *
                   b[static_cast<std::size_t>(k * columns + c)];
        }
        expected.push_back(total);
      }
    }
    const array left = make_array(a, {rows, inner_length}, Dtype::Float32);
    const array right = make_array(b, {inner_length, columns}, Dtype::Float32);
    check_close(matmul(left, right), expected, 0, 1e-4);
    const array turned_left = contiguous(transpose(left));
    const array turned_right = contiguous(transpose(right));
    check_close(matmul(transpose(turned_left), transpose(turned_right)), expected, 0, 1e-4);
    CHECK(matmul(left, right).shape() == Shape{rows, columns});
  }
}

TEST_CASE("products that several threads share agree with a loop in double") {
  // Cut into blocks down and across, only down, only across, and by the matrices of a batch.
  struct Sizes {
    std::int64_t batches;
    std::int64_t rows;
    std::int64_t inner;
    std::int64_t columns;
  };
  for (const auto& [batches, rows, length, columns] :
       {Sizes{1, 1100, 17, 1300}, {1, 2100, 900, 9}, {1, 9, 900, 2100}, {7, 130, 90, 210}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const std::vector<double> a =
        numbers(static_cast<std::size_t>(batches * rows * length), -1, 1, Dtype::Float32);
    const std::vector<double> b =
        numbers(static_cast<std::size_t>(batches * length * columns), -1, 1, Dtype::Float32);
    std::vector<double> expected(static_cast<std::size_t>(batches * rows * columns), 0);
    for (std::int64_t row = 0; row < batches * rows; ++row) {
      double* const out = expected.data() + row * columns;
      for (std::int64_t k = 0; k < length; ++k) {
        const double factor = a[static_cast<std::size_t>(row * length + k)];
        const double* const from = b.data() + (row / rows * length + k) * columns;
        for (std::int64_t column = 0; column < columns; ++column) {
          out[column] += factor * from[column];
        }
      }
    }
    const array left = make_array(a, {batches, rows, length}, Dtype::Float32);
    const array right = make_array(b, {batches, length, columns}, Dtype::Float32);
    const array turned_left = swapaxes(contiguous(swapaxes(left, 1, 2)), 1, 2);
    const array turned_right = swapaxes(contiguous(swapaxes(right, 1, 2)), 1, 2);
    const auto largest_error = [&](const array& product) {
      CHECK(product.shape() == Shape{batches, rows, columns});
      const std::vector<double> found = read(product);
      double largest = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        largest = std::max(largest, std::abs(found[i] - expected[i]));
      }
      return largest;
    };
    // Each of `length` sums, none of which comes to 64, is rounded once.
    const double bound = static_cast<double>(length) * 64 * 0x1p-24;
    CHECK(largest_error(matmul(left, right)) <= bound);
    CHECK(largest_error(matmul(turned_left, turned_right)) <= bound);
    const array complex_left = astype(left, Dtype::Complex64);
    CHECK(largest_error(matmul(complex_left, astype(right, Dtype::Complex64))) <= bound);
  }
}

TEST_CASE("products follow the rules for vectors and batches") {
  const array a = astype(counted({2, 3}), Dtype::Float32);
  const array v({1.0F, 2.0F, 3.0F});
  check_close(matmul(a, v), {8, 26}, 0);
  CHECK(matmul(a, v).shape() == Shape{2});
  check_close(matmul(v, transpose(a)), {8, 26}, 0);
  CHECK(matmul(v, v).shape().empty());
  check_close(matmul(v, v), {14}, 0);
  const array batch = astype(counted({2, 1, 2, 3}), Dtype::Float32);
  const array other = astype(counted({4, 3, 2}), Dtype::Float32);
  const array product = matmul(batch, other);
  CHECK(product.shape() == Shape{2, 4, 2, 2});
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int r = 0; r < 2; ++r) {
        for (int c = 0; c < 2; ++c) {
          double total = 0;
          for (int k = 0; k < 3; ++k) {
            total += (i * 6 + r * 3 + k) * (j * 6 + k * 2 + c);
          }
          expected.push_back(total);
        }
      }
    }
  }
  check_close(product, expected, 0);
  CHECK(matmul(astype(a, Dtype::Float16), astype(v, Dtype::Float16)).dtype() == Dtype::Float16);
  check_close(inner(a, a), {5, 14, 14, 50}, 0);
  check_close(outer(v, v), {1, 2, 3, 2, 4, 6, 3, 6, 9}, 0);
  check_close(addmm(array(1.0F), a, v, 2, 3), {19, 55}, 0);
  CHECK_THROWS_AS(matmul(a, a), std::invalid_argument);
  CHECK_THROWS_AS(matmul(a, array(1.0F)), std::invalid_argument);
  using Complex = std::complex<float>;
  const array z(std::vector<Complex>{{1, 1}, {2, 0}, {0, 1}, {1, -1}}, Shape{2, 2});
  CHECK(matmul(z, z).to_vector<Complex>() == std::vector<Complex>{{0, 4}, {4, 0}, {0, 2}, {0, 0}});
}

TEST_CASE("norms, rotary positions and attention agree with loops in double") {
  const std::vector<double> values = numbers(3 * 40, -2, 2, Dtype::Float32);
  const std::vector<double> weights = numbers(40, 0.5, 1.5, Dtype::Float32);
  const array x = make_array(values, {3, 40}, Dtype::Float32);
  const array w = make_array(weights, {40}, Dtype::Float32);
  std::vector<double> rms;
  std::vector<double> layer;
  for (std::size_t r = 0; r < 3; ++r) {
    double total = 0;
    double squares = 0;
    for (std::size_t c = 0; c < 40; ++c) {
      total += values[r * 40 + c] / 40;
      squares += values[r * 40 + c] * values[r * 40 + c] / 40;
    }
    const double variance = squares - total * total;
    for (std::size_t c = 0; c < 40; ++c) {
      rms.push_back(values[r * 40 + c] / std::sqrt(squares + 1e-5) * weights[c]);
      layer.push_back((values[r * 40 + c] - total) / std::sqrt(variance + 1e-5) * weights[c] + 1);
    }
  }
  check_close(fast::rms_norm(x, w, 1e-5F), rms, 8, 1e-6);
  check_close(fast::layer_norm(x, w, ones({40}), 1e-5F), layer, 8, 1e-5);

  std::vector<double> turned;
  for (std::size_t r = 0; r < 3; ++r) {
    std::vector<double> row(values.begin() + static_cast<std::ptrdiff_t>(r * 40),
                            values.begin() + static_cast<std::ptrdiff_t>(r * 40 + 40));
    for (std::size_t i = 0; i < 4; ++i) {
      const double angle =
          (static_cast<double>(r) + 2) * std::pow(10000.0, -static_cast<double>(i) / 4);
      const double a = row[i];
      const double b = row[i + 4];
      row[i] = a * std::cos(angle) - b * std::sin(angle);
      row[i + 4] = a * std::sin(angle) + b * std::cos(angle);
    }
    turned.insert(turned.end(), row.begin(), row.end());
  }
  check_close(fast::rope(x, 8, false, 10000.0F, 1, 2), turned, 8, 1e-5);
  CHECK_THROWS_AS(fast::rope(x, 7, false, 10000.0F, 1, 0), std::invalid_argument);

  // One head of keys for two of queries.
  const std::vector<double> qs = numbers(2 * 3 * 4, -1, 1, Dtype::Float32);
  const std::vector<double> ks = numbers(5 * 4, -1, 1, Dtype::Float32);
  std::vector<double> expected;
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<double> weight(5, 0);
      double total = 0;
      for (std::size_t j = 0; j < 5 && j <= i + 2; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < 4; ++d) {
          score += qs[(h * 3 + i) * 4 + d] * ks[j * 4 + d];
        }
        weight[j] = std::exp(0.5 * score);
        total += weight[j];
      }
      for (std::size_t d = 0; d < 4; ++d) {
        double sum_of = 0;
        for (std::size_t j = 0; j < 5; ++j) {
          sum_of += weight[j] / total * ks[j * 4 + d];
        }
        expected.push_back(sum_of);
      }
    }
  }
  const array q = make_array(qs, {1, 2, 3, 4}, Dtype::Float32);
  const array k = make_array(ks, {1, 1, 5, 4}, Dtype::Float32);
  check_close(fast::scaled_dot_product_attention(q, k, k, 0.5F, "causal"), expected, 16, 1e-6);
}

TEST_CASE("views of arrays in the host's memory follow their strides") {
  const std::vector<std::int32_t> values = {0, 1, 2, 3, 4, 5};
  const array x = array(values, Shape{2, 3}, Placement::Host).transposed();
  CHECK(ints(slice(x, {1, 0}, {3, 2})) == Ints{1, 4, 2, 5});
  CHECK(ints(transpose(x)) == values);
  CHECK(ints(expand_dims(x, 1)) == Ints{0, 3, 1, 4, 2, 5});
  CHECK(ints(squeeze(x.slice(1, 2), 0)) == Ints{1, 4});
  CHECK(ints(broadcast_to(x, {2, 3, 2})) == Ints{0, 3, 1, 4, 2, 5, 0, 3, 1, 4, 2, 5});
  CHECK(ints(split(x, 3)[2]) == Ints{2, 5});
  CHECK(ints(reshape(x, {6})) == Ints{0, 3, 1, 4, 2, 5});
  CHECK(ints(x.slice(2, -4, 0, -1)) == Ints{2, 5, 1, 4, 0, 3});
  CHECK(ints(slice(x.slice(2, -4, 0, -1), {0, 0}, {3, 2}, {2, 1})) == Ints{2, 5, 0, 3});
}

TEST_CASE("numbers are divided by the lengths of axes through multiplication") {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  for (const std::int64_t length : {2, 3, 5, 7, 31, 32, 33, 641, 65535, 65536, 65537, 16777213}) {
    const auto divisor = static_cast<std::uint32_t>(length);
    const array x = broadcast_to(zeros({1, length}), {2, length});
    evaluation::Iteration iteration;
    graph::Node* const inputs[] = {x.node_pointer().get()};
    iteration.plan({2, length}, static_cast<std::size_t>(2 * length), inputs);
    REQUIRE(iteration.arguments().lengths[0] == divisor);
    const fusion::DivisionArguments division = iteration.divisions();
    for (const std::uint32_t number :
         {0U, 1U, divisor - 1, divisor, divisor + 1, 2 * divisor - 1, kMost / divisor * divisor - 1,
          kMost / divisor * divisor, kMost / 2, kMost / 2 + 1, kMost - 1, kMost}) {
      const auto product =
          static_cast<std::uint32_t>(std::uint64_t{number} * division.multipliers[0] >> 32U);
      const std::uint32_t quotient = (product + ((number - product) >> 1U)) >> division.shifts[0];
      CAPTURE(divisor);
      CAPTURE(number);
      CHECK(quotient == number / divisor);
    }
  }
}

TEST_CASE("axes that together are too long for a kernel are not joined") {
  constexpr std::int64_t kRows = std::int64_t{1} << 17U;
  constexpr std::int64_t kColumns = std::int64_t{1} << 16U;
  const array x = broadcast_to(zeros({kRows, kColumns}), {2, kRows, kColumns});
  evaluation::Iteration iteration;
  graph::Node* const inputs[] = {x.node_pointer().get()};
  iteration.plan(x.shape(), x.size(), inputs);
  REQUIRE(iteration.arguments().axis_count == 3);
  CHECK(iteration.arguments().lengths[0] == kColumns);
  CHECK(iteration.arguments().lengths[1] == kRows);
  CHECK(iteration.strides(0).strides[1] == kColumns);
}

TEST_CASE("an axis that is too long for a kernel becomes two") {
  constexpr std::int64_t kLength = std::int64_t{3} << 32U;
  const array x = broadcast_to(zeros({1, kLength}, Dtype::Bool), {2, kLength});
  const array y = broadcast_to(zeros({2, 1}, Dtype::Bool), {2, kLength});
  evaluation::Iteration iteration;
  graph::Node* const inputs[] = {x.node_pointer().get(), y.node_pointer().get()};
  iteration.plan(x.shape(), x.size(), inputs);
  REQUIRE(iteration.arguments().axis_count == 3);
  CHECK(iteration.arguments().lengths[0] == kLength / 4);
  CHECK(iteration.arguments().lengths[1] == 4);
  CHECK(iteration.arguments().lengths[2] == 2);
  const fusion::GridStrides of_x = iteration.strides(0);
  CHECK(std::vector(of_x.strides, of_x.strides + 3) ==
        std::vector<std::int64_t>{1, kLength / 4, 0});
  const fusion::GridStrides of_y = iteration.strides(1);
  CHECK(std::vector(of_y.strides, of_y.strides + 3) == std::vector<std::int64_t>{0, 0, 1});
}

TEST_CASE("an axis that is too long for a kernel and cannot be cut is refused") {
  constexpr std::int64_t kLength = (std::int64_t{1} << 32U) + 15;
  const array x = broadcast_to(zeros({1, kLength}, Dtype::Bool), {2, kLength});
  evaluation::Iteration iteration;
  graph::Node* const inputs[] = {x.node_pointer().get()};
  CHECK_THROWS_WITH_AS(iteration.plan(x.shape(), x.size(), inputs),
                       "[eval] the shape [2, 4294967311] has an axis of 4294967311 elements, which "
                       "cannot be cut into equal parts; kernels run over up to 4294966271",
                       std::invalid_argument);
}
