#include <doctest/doctest.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

TEST_CASE("integers are rounded to tens and hundreds, ties to even") {
  using Ints = std::vector<std::int32_t>;
  const array x({15, 25, -15, -25, 14, -16, 0, 149, 150, 250});
  CHECK(round(x, -1).to_vector<std::int32_t>() ==
        Ints{20, 20, -20, -20, 10, -20, 0, 150, 150, 250});
  CHECK(round(x, -2).to_vector<std::int32_t>() == Ints{0, 0, 0, 0, 0, 0, 0, 100, 200, 200});
  CHECK(round(x, -10).to_vector<std::int32_t>() == Ints(10, 0));
  CHECK(round(x, 1).to_vector<std::int32_t>() == x.to_vector<std::int32_t>());
  CHECK(round(array(std::vector<std::uint8_t>{4, 5, 6, 244}), -1).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{0, 0, 10, 240});
  CHECK(round(array(std::vector<std::int64_t>{9007199254740993LL}), -1).item<std::int64_t>() ==
        9007199254740990LL);
}

TEST_CASE("logsumexp says by its own name what it does not take") {
  CHECK_THROWS_WITH_AS(logsumexp(array({std::complex<float>(1, 2)})),
                       "[logsumexp] elements of type complex64; possible are all others",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(logsumexp(zeros({2, 0}), 1),
                       "[logsumexp] no elements along axis 1 of the shape [2, 0]",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(logsumexp(zeros({2, 3}), Axes{0, 0}), "[logsumexp] an axis is given twice",
                       std::invalid_argument);
}

TEST_CASE("functions that are made of others refuse by their own names") {
  const array a = zeros({2, 3});
  const array b = zeros({4, 5});
  const std::string shapes = " shapes [2, 3] and [4, 5]";
  const auto refuses = [](const std::string& text, const auto& call) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(call(), doctest::Contains(text.c_str()), std::invalid_argument);
  };
  refuses("[clip]" + shapes, [&] { clip(a, b, std::nullopt); });
  refuses("[isclose]" + shapes, [&] { isclose(a, b); });
  refuses("[allclose]" + shapes, [&] { allclose(a, b); });
  refuses("[divmod]" + shapes, [&] { divmod(a, b); });
  refuses("[addmm]" + shapes, [&] { addmm(a, a, b); });
  refuses("[addmm] shapes [2, 2] and [4, 5]", [&] { addmm(b, a, zeros({3, 2})); });
  refuses("[unflatten] the shape [2]", [&] { unflatten(a, 0, {3}); });
  refuses("[identity] -1 rows", [] { identity(-1); });
  const array none({0.5F});
  refuses("[scatter_max] indices of type float32", [&] { scatter_max(a, {none}, a, {0}); });

  // Axes that kernels cannot run over.
  const Shape ten(10, 2);
  array deep = zeros(ten);
  deep = slice(deep, Shape(10, 1), Shape(10, -3), Shape(10, -1));
  deep = transpose(deep, {1, 0, 3, 2, 5, 4, 7, 6, 9, 8});
  refuses("[round] the shape", [&] { round(deep, -1); });
  refuses("[nan_to_num] the shape", [&] { nan_to_num(deep); });
  refuses("[array_equal] the shape", [&] { array_equal(deep, deep); });
  refuses("[tril] the shape", [&] { tril(deep); });
  refuses("[triu] the shape", [&] { triu(deep); });
  refuses("[stack] the shape", [&] { stack({deep, deep}); });
  refuses("[pad] the shape", [&] { pad(deep, {{1, 1}}); });
  refuses("[pad] the shape", [&] { pad(deep, {{1, 1}}, array(0), "edge"); });
  refuses("[roll] the shape", [&] { roll(deep, 1, 0); });
  refuses("[roll] the shape", [&] { roll(deep, 1); });
  refuses("[tile] the shape", [&] { tile(deep, {2}); });
  refuses("[repeat] the shape", [&] { repeat(deep, 2); });
  refuses("[take] the shape", [&] { take(deep, array({0})); });
  refuses("[argmax] the shape", [&] { argmax(deep); });
  refuses("[argmin] the shape", [&] { argmin(deep); });
  refuses("[flatten] the shape", [&] { flatten(deep); });
  refuses("[inner] the shape", [&] { inner(deep, deep); });
  refuses("[outer] the shape", [&] { outer(deep, deep); });
}

TEST_CASE("rounding to many decimals leaves numbers what they are") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  check_close(round(array({1e30F, 1.5F, 3e38F}), 10), {1e30F, 1.5, 3e38F}, 1);
  check_close(round(array({1.5F, infinity, -infinity, nan}), 45), {1.5, infinity, -infinity, nan},
              0);
  check_close(round(array({1.5F, 3e38F, infinity, -infinity, nan}), -45),
              {0, 0, infinity, -infinity, nan}, 0);
  check_close(round(array({1.5F, -2.5F}), INT_MIN), {0, 0}, 0);
  check_close(round(array({1.5F, -2.5F}), INT_MAX), {1.5, -2.5}, 0);
}

TEST_CASE("halves are rounded to decimals without going through infinity") {
  for (const Dtype dtype : {Dtype::Float16, Dtype::BFloat16}) {
    for (const int decimals : {-3, -1, 1, 2, 3, 5}) {
      CAPTURE(name_of(dtype));
      CAPTURE(decimals);
      const std::vector<double> values = numbers(33, -900, 900, dtype);
      const double unit = std::pow(10.0, decimals);
      std::vector<double> expected;
      for (const double value : values) {
        expected.push_back(std::nearbyint(value * unit) / unit);
      }
      check_close(round(make_array(values, {33}, dtype), decimals), expected, 0.51);
    }
  }
}

TEST_CASE("both parts of complex numbers are rounded") {
  using Complex = std::complex<float>;
  const array x(std::vector<Complex>{{1.26F, -2.5F}, {0.5F, 1234.5F}}, Shape{2, 1});
  CHECK(round(x).to_vector<Complex>() == std::vector<Complex>{{1, -2}, {0, 1234}});
  CHECK(round(x, -2).to_vector<Complex>() == std::vector<Complex>{{0, 0}, {0, 1200}});
  CHECK(round(array(Complex(1.5F, 2.26F)), 1).item<Complex>() == Complex(1.5F, 2.3F));
}

TEST_CASE("whole numbers are as far from each other as they are") {
  const auto close = [](auto a, auto b, double atol) {
    return isclose(array(a), array(b), 0, atol).template item<bool>();
  };
  CHECK(!close(16777216, 16777217, 0.5));
  CHECK(close(16777216, 16777217, 1));
  CHECK(!close(INT64_MAX, INT64_MAX - 1, 0));
  CHECK(!close(INT64_MAX, INT64_MIN, 1e18));
  CHECK(close(INT64_MAX, INT64_MIN, 2e19));
  CHECK(!close(std::int8_t{-128}, std::int8_t{127}, 254.5));
  CHECK(close(std::int8_t{-128}, std::int8_t{127}, 255));
  CHECK(!close(std::uint8_t{1}, std::uint8_t{2}, 0.5));
  CHECK(!close(true, false, 0.5));
  CHECK(close(true, false, 1));
  CHECK(isclose(array({-100}), array({-101}), 0.01, 0).item<bool>());
}

TEST_CASE("axes that kernels cannot run over are refused under the name of the function") {
  const array whole = zeros(Shape(11, 2));
  const array turned = transpose(whole, {10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5});
  const array counts = astype(whole, Dtype::Int32);
  const array places = transpose(counts, {10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5});
  const auto refuses = [](const std::string& name, const auto& operation) {
    std::string text = "nothing";
    try {
      static_cast<void>(operation());
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    const bool is_named = text.starts_with("[" + name + "] the shape ");
    CHECK_MESSAGE(is_named, name, " says ", text);
    CHECK_MESSAGE(text.find("that cannot be joined; 8 are possible") != std::string::npos, text);
  };

  for (const array& x : {turned, places}) {
    refuses("sum", [&] { return sum(x); });
    refuses("max", [&] { return max(x, 3); });
    refuses("all", [&] { return all(x); });
    refuses("mean", [&] { return mean(x); });
    refuses("var", [&] { return var(x); });
    refuses("std", [&] { return pewter::std(x, 2); });
    refuses("logsumexp", [&] { return logsumexp(x); });
    refuses("sort", [&] { return sort(x); });
    refuses("argsort", [&] { return argsort(x, 4); });
    refuses("topk", [&] { return topk(x, 1); });
    refuses("argmax", [&] { return argmax(x, 2); });
    refuses("cumsum", [&] { return cumsum(x, 1); });
    refuses("softmax", [&] { return softmax(x); });
    refuses("softmax", [&] { return softmax(x, 3); });
    refuses("rms_norm", [&] { return fast::rms_norm(x, std::nullopt, 1); });
    refuses("layer_norm", [&] { return fast::layer_norm(x, std::nullopt, std::nullopt, 1); });
    refuses("rope", [&] { return fast::rope(x, 2, false, 10000.0F, 1, 0); });
    refuses("matmul", [&] { return matmul(x, x); });
    refuses("matmul", [&] { return matmul(x, ones({2})); });
    refuses("matmul", [&] { return matmul(whole, x); });
    refuses("take", [&] { return take(x, array({0}), 2); });
    refuses("take_along_axis", [&] { return take_along_axis(x, places, 2); });
    refuses("put_along_axis", [&] { return put_along_axis(whole, counts, x, 2); });
    refuses("contiguous", [&] { return contiguous(x); });
    refuses("copy", [&] { return copy(x); });
    refuses("reshape", [&] { return reshape(x, {-1}); });
    refuses("view", [&] { return view(x, Dtype::UInt32); });
    refuses("repeat", [&] { return repeat(x, 2, 5); });
  }
  CHECK(sum(whole).item<float>() == 0);
  CHECK(sort(whole, 10).shape() == whole.shape());
}

TEST_CASE("axes that kernels cannot run over do not matter where there are no elements") {
  const std::vector<int> order = {10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5};
  const array turned = transpose(zeros(Shape(11, 2)), order);
  Shape lengths(11, 2);
  lengths[3] = 0;
  const array none = transpose(zeros(lengths), order);
  Shape without(11, 2);
  without[5] = 0;

  CHECK(repeat(turned, 0, 5).shape() == without);
  CHECK(repeat(turned, 0, 5).to_vector<float>().empty());
  CHECK(tile(turned, {0, 1, 1, 1, 1, 1}).shape() == without);
  CHECK(tile(turned, {0, 1, 1, 1, 1, 1}).to_vector<float>().empty());
  CHECK(sum(repeat(turned, 0, 5)).item<float>() == 0);
  CHECK(exp(none + broadcast_to(array(1.0F), none.shape())).to_vector<float>().empty());
  CHECK(sort(none, 2).to_vector<float>().empty());
  CHECK(softmax(none, 2).to_vector<float>().empty());
  CHECK(cumsum(none, 2).to_vector<float>().empty());
  CHECK(take(none, array({0}), 2).to_vector<float>().empty());
  CHECK(sum(none, 0).to_vector<float>().empty());
  CHECK(sum(none, 7).to_vector<float>() == std::vector<float>(1024, 0));
  CHECK(prod(exp(none)).item<float>() == 1);
  CHECK(copy(none).to_vector<float>().empty());
  CHECK(reshape(none, {0, 5}).shape() == Shape{0, 5});
}
