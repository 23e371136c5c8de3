#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using pewter::array;
using pewter::Dtype;
using pewter::Shape;

namespace {

template <typename T>
std::vector<T> mixed(std::size_t count) {
  std::mt19937 engine(3);  // NOLINT(bugprone-random-generator-seed): repeatable
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(engine() % 200);
  }
  return values;
}

template <typename T>
void check_sizes() {
  for (const std::size_t count : {0, 1, 15, 16, 17, 31, 32, 33, 509, 1025}) {
    CAPTURE(count);
    const std::vector<T> values = mixed<T>(count);
    std::vector<std::uint32_t> places(count);
    std::iota(places.begin(), places.end(), 0U);
    std::ranges::sort(places, [&](auto a, auto b) {
      return values[a] < values[b] || (values[a] == values[b] && a < b);
    });
    std::vector<T> expected = values;
    std::ranges::sort(expected);

    CHECK(sort(array(values)).template to_vector<T>() == expected);
    CHECK(argsort(array(values)).template to_vector<std::uint32_t>() == places);
  }
}

}  // namespace

TEST_CASE("rows of every length are sorted, equal elements in their order") {
  check_sizes<float>();
  check_sizes<std::int32_t>();
}

TEST_CASE("every type is sorted") {
  const std::vector<float> values = {3, 1, 0, 2, 1};
  for (const Dtype dtype :
       {Dtype::UInt8, Dtype::UInt16, Dtype::UInt32, Dtype::UInt64, Dtype::Int8, Dtype::Int16,
        Dtype::Int32, Dtype::Int64, Dtype::Float16, Dtype::BFloat16, Dtype::Float32}) {
    CAPTURE(name_of(dtype));
    const array sorted = sort(astype(array(values), dtype));
    CHECK(sorted.dtype() == dtype);
    CHECK(astype(sorted, Dtype::Float32).to_vector<float>() == std::vector<float>{0, 1, 1, 2, 3});
  }
  CHECK(sort(array{true, false, true}).to_vector<bool>() == std::vector<bool>{false, true, true});
  CHECK(sort(array{std::int64_t{1}, std::int64_t{-1} << 40}).to_vector<std::int64_t>()[0] ==
        std::int64_t{-1} << 40);
}

TEST_CASE("what is no number comes last, infinities at the ends") {
  const array x{NAN, 1.0F, -INFINITY, NAN, INFINITY};
  const auto sorted = sort(x).to_vector<float>();
  CHECK(sorted[0] == -INFINITY);
  CHECK(sorted[1] == 1);
  CHECK(sorted[2] == INFINITY);
  CHECK(std::isnan(sorted[3]));
  CHECK(std::isnan(sorted[4]));
  CHECK(argsort(x).to_vector<std::uint32_t>() == std::vector<std::uint32_t>{2, 1, 4, 0, 3});
}

TEST_CASE("any axis and any view can be sorted") {
  const array x(std::vector<std::int32_t>{5, 1, 3, 4, 2, 6}, Shape{2, 3});
  CHECK(sort(x, 1).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 3, 5, 2, 4, 6});
  CHECK(sort(x, 0).to_vector<std::int32_t>() == std::vector<std::int32_t>{4, 1, 3, 5, 2, 6});
  CHECK(sort(x.transposed(), -1).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{4, 5, 1, 2, 3, 6});
  CHECK(argsort(x, 0).to_vector<std::uint32_t>() == std::vector<std::uint32_t>{1, 0, 0, 0, 1, 1});
  CHECK(sort(broadcast_to(array{2, 1}, {3, 2})).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{1, 2, 1, 2, 1, 2});
}

TEST_CASE("partitions put one element in its place, topk takes the greatest") {
  const std::vector<float> values = mixed<float>(100);
  std::vector<float> expected = values;
  std::ranges::sort(expected);
  const auto parted = partition(array(values), 40).to_vector<float>();
  CHECK(parted[40] == expected[40]);
  CHECK(*std::max_element(parted.begin(), parted.begin() + 40) <= parted[40]);
  CHECK(*std::min_element(parted.begin() + 40, parted.end()) >= parted[40]);
  const auto places = argpartition(array(values), -1).to_vector<std::uint32_t>();
  CHECK(values[places[99]] == expected[99]);

  auto greatest = topk(array(values), 7).to_vector<float>();
  std::ranges::sort(greatest);
  CHECK(greatest == std::vector<float>(expected.end() - 7, expected.end()));
  CHECK(topk(array(values, Shape{10, 10}), 3, 0).shape() == Shape{3, 10});
}

TEST_CASE("without an axis the flattened array is sorted") {
  const array x({{3, 1}, {2, 4}});
  CHECK(sort(x, std::nullopt).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK(argsort(x, std::nullopt).to_vector<std::uint32_t>() ==
        std::vector<std::uint32_t>{1, 2, 0, 3});
  CHECK(partition(x, 1, std::nullopt).to_vector<std::int32_t>()[1] == 2);
  CHECK(argpartition(x, 3, std::nullopt).to_vector<std::uint32_t>()[3] == 3);
  CHECK(topk(x, 1, std::nullopt).to_vector<std::int32_t>() == std::vector<std::int32_t>{4});
}

TEST_CASE("what has no order and places that are not there are refused") {
  CHECK_THROWS_AS(sort(array(1.0F)), std::invalid_argument);
  CHECK_THROWS_AS(sort(array{1.0F}, 1), std::invalid_argument);
  CHECK_THROWS_AS(sort(array{std::complex<float>(1, 1)}), std::invalid_argument);
  CHECK_THROWS_AS(partition(array{1.0F}, 1), std::invalid_argument);
  CHECK_THROWS_AS(topk(array{1.0F}, 2), std::invalid_argument);
}
