#include <doctest/doctest.h>
#include <fmt/core.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("indices beyond 32 bits are clamped to the axis as any others are") {
  const array x({10, 20, 30});
  const array far(std::vector<std::int64_t>{1LL << 32, -(1LL << 32), INT64_MAX, INT64_MIN});
  const array unsigned_far(std::vector<std::uint32_t>{4000000000U, 1});
  const array farthest(std::vector<std::uint64_t>{UINT64_MAX, 1ULL << 63, 0});

  CHECK(take(x, far, 0).to_vector<std::int32_t>() == std::vector<std::int32_t>{30, 10, 30, 10});
  CHECK(take(x, unsigned_far, 0).to_vector<std::int32_t>() == std::vector<std::int32_t>{30, 20});
  CHECK(take_along_axis(x, farthest, 0).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{30, 30, 10});
  CHECK(gather(x, {farthest}, {0}, {1}).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{30, 30, 10});
  CHECK(put_along_axis(x, array(std::vector<std::int64_t>{1LL << 40}), array({7}), 0)
            .to_vector<std::int32_t>() == std::vector<std::int32_t>{10, 20, 7});
}

TEST_CASE("indices along an axis that have fewer axes than the array are refused") {
  const array x = zeros({2, 3, 4});
  const array one(1.0F);

  CHECK_THROWS_WITH_AS(take_along_axis(x, array({0, 1, 2}), 2),
                       "[take_along_axis] indices of shape [3] for the shape [2, 3, 4]: ranks must "
                       "be equal",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(take_along_axis(x, array(0), -1),
                       "[take_along_axis] indices of shape [] for the shape [2, 3, 4]: ranks must "
                       "be equal",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(put_along_axis(x, array({0, 1, 2}), one, 2),
                       "[put_along_axis] indices of shape [3] for the shape [2, 3, 4]: ranks must "
                       "be equal",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(scatter_add_axis(x, array(0), one, 0),
                       "[scatter_add_axis] indices of shape [] for the shape [2, 3, 4]: ranks must "
                       "be equal",
                       std::invalid_argument);
}

TEST_CASE("values that do not fit their places are refused under the name of the function") {
  const array x = zeros({4, 3});
  CHECK_THROWS_WITH_AS(put_along_axis(x, array({{0, 1, 2}}), ones({2}), 0),
                       "[put_along_axis] values of shape [2] for indices of shape [1, 3]",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(scatter_add(x, {array({0, 1})}, ones({3, 1, 3}), {0}),
                       "[scatter_add] updates of shape [3, 1, 3] for indices of shape [2] and "
                       "slices of shape [1, 3]",
                       std::invalid_argument);
}

TEST_CASE("an axis that indices cannot count is refused") {
  const array x = broadcast_to(array({true}), {1LL << 31});
  CHECK_THROWS_WITH_AS(take(x, array({0}), 0),
                       "[take] 2147483648 elements along an axis; up to 2147483647 are possible",
                       std::invalid_argument);
}

TEST_CASE("more elements side by side than kernels run over are refused") {
  const array wide = broadcast_to(array({true}), {2, 1LL << 31, 3});
  const array high = broadcast_to(array({true}), {1LL << 31, 3, 2});
  const auto refuses = [](const char* name, const auto& operation) {
    const std::string start = fmt::format("[{}] ", name);
    try {
      operation();
      FAIL("not refused: ", name);
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      CHECK_MESSAGE(text.starts_with(start), text);
      CHECK_MESSAGE(
          text.find("side by side; kernels run over up to 4294966271, so do it in parts") !=
              std::string::npos,
          text);
    }
  };

  refuses("take", [&] { take(wide, array({0}), 0); });
  refuses("take", [&] { take(high, array({0}), 2); });
  refuses("take_along_axis", [&] { take_along_axis(wide, array({{{0}}}), 0); });
  refuses("put_along_axis", [&] { put_along_axis(wide, array({{{0}}}), array(true), 0); });
  const array tall = broadcast_to(array({true}), {1LL << 17, 1, 1LL << 16});
  refuses("scatter_add_axis",
          [&] { scatter_add_axis(astype(tall, Dtype::Int32), array({{{0}}}), array(1), 1); });
  refuses("gather", [&] { gather(wide, {array({0})}, {0}, {1, 1LL << 31, 3}); });
  refuses("cumsum", [&] { cumsum(wide, 0); });
  refuses("argmax", [&] { argmax(high, 2); });
  refuses("softmax", [&] { softmax(astype(high, Dtype::Float16), {2}); });
}

TEST_CASE("slices along an axis that is given twice would leave the array and are refused") {
  const array x = arange(10);
  const array last({9});
  CHECK_THROWS_WITH_AS(gather(x, {last, last}, {0, 0}, {1}), "[gather] an axis is given twice",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(scatter(x, {last, last}, array({{7}}), {0, -1}),
                       "[scatter] an axis is given twice", std::invalid_argument);
}

TEST_CASE("slices that overlap are placed one after the other, and none is lost") {
  constexpr std::int32_t kRows = 70;
  constexpr std::int32_t kColumns = 90;
  constexpr std::int32_t kSliceRows = 40;
  constexpr std::int32_t kSliceColumns = 33;
  constexpr std::int32_t kCount = 50;
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> updates;
  std::vector<std::int32_t> last(std::size_t{kRows} * kColumns, 0);
  std::vector<std::int32_t> total = last;
  for (std::int32_t i = 0; i < kCount; ++i) {
    rows.push_back(i * 11 % (kRows - kSliceRows + 1));
    columns.push_back(i * 7 % (kColumns - kSliceColumns + 1));
    for (std::int32_t at = 0; at < kSliceRows * kSliceColumns; ++at) {
      updates.push_back(i * 10000 + at);
      const auto place = static_cast<std::size_t>((rows.back() + at / kSliceColumns) * kColumns +
                                                  columns.back() + at % kSliceColumns);
      last[place] = updates.back();
      total[place] += updates.back();
    }
  }

  const array x = zeros({kRows, kColumns}, Dtype::Int32);
  const std::vector<array> indices = {array(rows), array(columns)};
  const array slices(updates, {kCount, kSliceRows, kSliceColumns});

  CHECK(scatter(x, indices, slices, {0, 1}).to_vector<std::int32_t>() == last);
  CHECK(scatter_add(x, indices, slices, {0, 1}).to_vector<std::int32_t>() == total);
}
