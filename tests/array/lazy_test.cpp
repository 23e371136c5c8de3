#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/memory.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "pewter/array/fusion/kernel_cache.h"

using namespace pewter;

namespace {

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

/// Numbers of the shape, in memory of their own.
array stored(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) {
    count *= length;
  }
  array result =
      reshape(arange(0.0, static_cast<double>(count), 1.0, Dtype::Float32) + 0.0F, shape);
  eval(result);
  return result;
}

using Unary = std::function<array(const array&)>;
using Binary = std::function<array(const array&, const array&)>;

/// The bytes that `function` takes besides its argument, of which it is the only owner. Checks that
/// it computes what it does when the argument is kept.
std::size_t bytes_taken(const Shape& shape, const Unary& function) {
  const array kept = stored(shape);
  const array expected = function(kept);
  eval(expected);
  CHECK(array_equal(kept, stored(shape)).item<bool>());
  array x = stored(shape);
  clear_cache();
  const std::size_t before = get_active_memory();
  reset_peak_memory();
  const array y = function(std::exchange(x, array(0)));
  eval(y);
  // Counts from the first allocation on.
  const std::size_t peak = std::max(get_peak_memory(), before);
  CHECK(array_equal(y, expected).item<bool>());
  return peak - before;
}

}  // namespace

TEST_CASE("a chain of operations is computed when its elements are read") {
  const array x(counted(1000));
  const array y = exp(-square(x * 0.01F)) + 1.0F;
  CHECK(!y.is_available());
  const std::vector<float> values = y.to_vector<float>();
  CHECK(y.is_available());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = static_cast<double>(i) * 0.01F;
    CHECK(std::abs(values[i] - (std::exp(-at * at) + 1)) < 1e-6);
  }
}

TEST_CASE("a chain takes one kernel, and another length takes none") {
  const auto chain = [](const array& x) { return tanh(x * x + 3.0F) / 2.0F; };
  const std::size_t before = fusion::waited_kernel_count();
  eval(chain(array(counted(100))));
  CHECK(fusion::waited_kernel_count() == before + 1);
  eval(chain(array(counted(37))), chain(array(counted(6), Shape{2, 3})));
  CHECK(fusion::waited_kernel_count() == before + 1);
}

TEST_CASE("after its first evaluation an expression waits for no kernel, whatever its shape") {
  const auto expression = [](const array& x, const array& row, const array& column) {
    return arctan(x - column) * row + x;
  };
  const auto check = [&](const Shape& shape) {
    const array x = stored(shape) * 0.01F;
    const array row = stored({shape.back()}) * 0.5F;
    const array column = stored({shape[shape.size() - 2], 1}) * 0.25F;
    eval(x, row, column);
    const std::size_t before = fusion::waited_kernel_count();
    const std::vector<float> values = expression(x, row, column).to_vector<float>();
    const std::size_t waited = fusion::waited_kernel_count() - before;
    const auto width = static_cast<std::size_t>(shape.back());
    const auto height = static_cast<std::size_t>(shape[shape.size() - 2]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float at = static_cast<float>(i) * 0.01F;
      const float above = at - static_cast<float>(i / width % height) * 0.25F;
      const double factor = 0.5 * static_cast<double>(i % width);
      const double expected = std::atan(static_cast<double>(above)) * factor + at;
      REQUIRE(std::abs(values[i] - expected) <= 1e-6 * (2 * factor + at + 1));
    }
    return waited;
  };
  CHECK(check({300, 64}) == 1);
  const Shape shapes[] = {{300, 16}, {1, 64},   {300, 1},    {1, 1},        {64, 300},
                          {33, 700}, {9000, 5}, {7, 30, 40}, {7, 3, 10, 2}, {2, 3, 4, 5, 6}};
  for (const Shape& shape : shapes) {
    CHECK(check(shape) == 0);
  }
}

TEST_CASE("strides of any kind wait for no kernel after the first evaluation") {
  const auto expression = [](const array& x) { return sinh(x) + 1.0F; };
  const array x = stored({40, 50, 60}) * 1e-5F;
  eval(x);
  eval(expression(x));
  const auto check = [&](const array& view) {
    const array copy = contiguous(view);
    eval(copy);
    const std::size_t before = fusion::waited_kernel_count();
    const array result = expression(view);
    eval(result);
    CHECK(fusion::waited_kernel_count() == before);
    CHECK(array_equal(result, expression(copy)).item<bool>());
  };
  check(transpose(x));
  check(transpose(x, {1, 0, 2}));
  check(slice(x, {0, 0, 0}, {40, 50, 3}));
  check(slice(x, {39, 0, 59}, {-41, 50, -61}, {-1, 1, -2}));
  check(broadcast_to(slice(x, {0, 0, 0}, {40, 1, 60}), {40, 50, 60}));
}

TEST_CASE("a kernel for any shape gives the same bits as one for some shapes") {
  // The part is few enough elements for the general kernel, the whole is not.
  const array x = stored({5000, 1000}) * 1e-6F;
  const array row = stored({1000}) * 0.01F;
  const auto check = [&](const Shape& part, const Binary& expression) {
    const array few = slice(x, {0, 0}, part) + 0.0F;
    const array few_of_row = slice(row, {0}, {part[1]}) + 0.0F;
    eval(x, row, few, few_of_row);
    const array of_few = expression(few, few_of_row);
    eval(of_few);
    const array of_all = expression(x, row);
    const Shape start(of_all.ndim(), 0);
    CHECK(array_equal(of_few, slice(of_all, start, of_few.shape())).item<bool>());
  };
  check({100, 1000}, [](const array& a, const array& b) { return exp(a) * b + 3.0F; });
  check({100, 1000}, [](const array& a, const array& b) { return sum(exp(a) * b, 1); });
  check({5000, 100}, [](const array& a, const array& b) { return sum(exp(a) * b, 0); });
}

TEST_CASE("numbers are no inputs of a kernel: a chain with many of them takes one too") {
  constexpr int kSteps = 40;
  const auto chain = [](const array& x, float step) {
    array y = x;
    for (int i = 0; i < kSteps; ++i) {
      y = y + static_cast<float>(i) * step;
    }
    return y;
  };
  const std::size_t before = fusion::waited_kernel_count();
  // More elements than are computed one by one while their kernel is made.
  const array x(counted(20000));
  CHECK(chain(x, 1).to_vector<float>()[7] == 7 + kSteps * (kSteps - 1) / 2);
  CHECK(chain(x, 2).to_vector<float>()[7] == 7 + kSteps * (kSteps - 1));
  CHECK(fusion::waited_kernel_count() == before + 1);
}

TEST_CASE("rows and columns are broadcast") {
  const array x(counted(6), Shape{2, 3});
  const array row({10.0F, 20.0F, 30.0F});
  const array column({{100.0F}, {200.0F}});
  CHECK((x + row + column).to_vector<float>() == std::vector<float>{110, 121, 132, 213, 224, 235});
  CHECK((transpose(x) - expand_dims(row, 1)).to_vector<float>() ==
        std::vector<float>{-10, -7, -19, -16, -28, -25});
}

TEST_CASE("sums run over any axes") {
  const array x(counted(24), Shape{2, 3, 4});
  CHECK(sum(x).item<float>() == 276);
  CHECK(sum(x, -1).to_vector<float>() == std::vector<float>{6, 22, 38, 54, 70, 86});
  CHECK(sum(x, 0).to_vector<float>() ==
        std::vector<float>{12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34});
  CHECK(sum(x, Axes{0, 2}).to_vector<float>() == std::vector<float>{60, 92, 124});
  CHECK(sum(x, Axes{0, 2}, true).shape() == Shape{1, 3, 1});
  CHECK(sum(x * 2.0F, 1).to_vector<float>() ==
        std::vector<float>{24, 30, 36, 42, 96, 102, 108, 114});
}

TEST_CASE("a wrong shape is refused at the call") {
  const array x(counted(6), Shape{2, 3});
  CHECK_THROWS_WITH_AS(add(x, array(counted(4))),
                       "[add] shapes [2, 3] and [4] cannot be broadcast together",
                       std::invalid_argument);
}

TEST_CASE("an array that is held is stored when it is needed for the second time") {
  // So many that operations are not computed one by one, which would store it the first time.
  const array x(counted(20000));
  const array held = x * 2.0F;
  eval(held + 1.0F);
  CHECK(!held.is_available());
  eval(held + 2.0F);
  CHECK(held.is_available());
  CHECK(held.to_vector<float>()[7] == 14);
}

TEST_CASE("a loop that evaluates something else than what it carries does not grow") {
  array carried(counted(4));
  for (int i = 0; i < 2000; ++i) {
    carried = carried * 0.5F + 1.0F;
    const array shown = carried + 0.0F;
    eval(shown);
  }
  CHECK(carried.to_vector<float>() == std::vector<float>(4, 2));
}

TEST_CASE("results take the memory of an operand that nobody holds any more") {
  constexpr std::size_t kFew = 100000;
  const array row = stored({1000});
  const array column = stored({300, 1});
  const array short_row = stored({5});
  const array other = stored({1000, 300});
  const array planes = stored({2, 3, 1});
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return x * 2.0F; }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return x + row; }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return exp(-x) * column + x; }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return x - transpose(other); }) < kFew);
  CHECK(bytes_taken({60000, 5}, [&](const array& x) { return x + short_row; }) < kFew);
  CHECK(bytes_taken({2, 3, 50000}, [&](const array& x) { return x + planes; }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return reshape(x, {1000, 300}) * 2.0F; }) <
        kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) {
          return astype(reshape(x, {60000, 5}) + short_row, Dtype::Int32);
        }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return cumsum(x, 0); }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return cummax(-x, 1, true); }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) { return cumsum(x, 1, false, false); }) <
        kFew);
}

TEST_CASE("values are placed in an array that nobody else holds without a copy of it") {
  constexpr std::size_t kFew = 100000;
  const array places = zeros({1, 1000}, Dtype::Int32) + 7;
  const array values = stored({1, 1000}) - 5.0F;
  const array slices = reshape(values, {1, 1, 1000});
  eval(places, values, slices);
  CHECK(bytes_taken({300, 1000},
                    [&](const array& x) { return put_along_axis(x, places, values, 0); }) < kFew);
  CHECK(bytes_taken({300, 1000},
                    [&](const array& x) { return scatter_add_axis(x, places, values, 0); }) < kFew);
  CHECK(bytes_taken({300, 1000},
                    [&](const array& x) { return scatter(x, {array({3})}, slices, {0}); }) < kFew);
  CHECK(bytes_taken({300, 1000}, [&](const array& x) {
          return scatter_add(x, {array({3})}, slices, {0});
        }) < kFew);
}

TEST_CASE("results have memory of their own when another array shows their operand's") {
  constexpr std::size_t kAll = 900 * 900 * sizeof(float);
  const array row = stored({900});
  CHECK(bytes_taken({900, 900}, [&](const array& x) { return x + transpose(x); }) >= kAll);
  CHECK(bytes_taken({900, 900}, [&](const array& x) { return x + slice(x, {0, 0}, {1, 900}); }) >=
        kAll);
  array part(0.0F);
  CHECK(bytes_taken({900, 900}, [&](const array& x) {
          part = slice(x, {1, 0}, {2, 900});
          return x + row;
        }) >= kAll);
  CHECK(array_equal(part, reshape(row + 900.0F, {1, 900})).item<bool>());
  CHECK(bytes_taken({900, 900}, [&](const array& x) {
          part = reshape(x, {-1});
          return cumsum(x, 0);
        }) >= kAll);
  CHECK(array_equal(part, stored({810000})).item<bool>());
  CHECK(bytes_taken({900, 900}, [&](const array& x) {
          return scatter_add(x, {array({3})}, reshape(slice(x, {0, 0}, {1, 900}), {1, 1, 900}),
                             {0});
        }) >= kAll);
}
