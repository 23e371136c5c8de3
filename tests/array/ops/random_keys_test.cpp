#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/ops.h>
#include <pewter/random.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pewter/array/ops/threefry.h"

using pewter::array;
using pewter::Dtype;
using pewter::Shape;
using Words = std::vector<std::uint32_t>;
namespace keyed = pewter::random;

namespace {

double mean_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<float>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const float value : values) {
    sum += (value - mean) * (value - mean);
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

std::vector<float> floats(const array& x) {
  return astype(x, Dtype::Float32).to_vector<float>();
}

/// The words of a plain loop.
Words reference(std::uint64_t seed, std::size_t count) {
  const pewter::ops::KeyWords key = {static_cast<std::uint32_t>(seed >> 32),
                                     static_cast<std::uint32_t>(seed)};
  Words words(count);
  const std::size_t middle = (count + 1) / 2;
  for (std::uint32_t i = 0; i < middle; ++i) {
    const bool has_partner = middle + i < count;
    const auto block =
        pewter::ops::threefry(key, {i, has_partner ? static_cast<std::uint32_t>(middle + i) : 0});
    words[i] = block[0];
    if (has_partner) {
      words[middle + i] = block[1];
    }
  }
  return words;
}

}  // namespace

TEST_CASE("blocks are those of the published test vectors of Threefry 2x32 with 20 rounds") {
  using Key = pewter::ops::KeyWords;
  CHECK(pewter::ops::threefry({0, 0}, {0, 0}) == Key{0x6b200159, 0x99ba4efe});
  CHECK(pewter::ops::threefry({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Key{0x1cb996fc, 0xbb002be7});
  CHECK(pewter::ops::threefry({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}) ==
        Key{0xc4923a9c, 0x483df7a0});
}

TEST_CASE("a key is the two halves of its seed") {
  CHECK(keyed::key(0x123456789abcdef0).to_vector<std::uint32_t>() == Words{0x12345678, 0x9abcdef0});
  CHECK(keyed::key(3).shape() == Shape{2});
  CHECK(keyed::key(3).dtype() == Dtype::UInt32);
}

TEST_CASE("bits are those of the generator, for any number of them") {
  for (const std::int64_t count : {0, 1, 2, 3, 31, 32, 33, 1025}) {
    CAPTURE(count);
    CHECK(keyed::bits({count}, 4, keyed::key(9)).to_vector<std::uint32_t>() ==
          reference(9, static_cast<std::size_t>(count)));
  }
  CHECK(keyed::bits({3, 5}, 4, keyed::key(9)).shape() == Shape{3, 5});
}

TEST_CASE("narrow bits are the bytes of the words") {
  const Words words = reference(4, 3);
  const auto bytes = keyed::bits({11}, 1, keyed::key(4)).to_vector<std::uint8_t>();
  const auto pairs = keyed::bits({5}, 2, keyed::key(4)).to_vector<std::uint16_t>();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK(bytes[i] == static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4))));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    CHECK(pairs[i] == static_cast<std::uint16_t>(words[i / 2] >> (16 * (i % 2))));
  }
}

TEST_CASE("uniform numbers stay below the upper end where rounding would reach it") {
  for (const Dtype dtype : {Dtype::Float16, Dtype::BFloat16, Dtype::Float32}) {
    CAPTURE(dtype);
    for (const float low : {1.0F, 100.0F}) {
      CAPTURE(low);
      const auto values =
          floats(keyed::uniform(array(low), array(low + 1), {300000}, dtype, keyed::key(3)));
      const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
      CHECK(*least >= low);
      CHECK(*greatest < low + 1);
      CHECK(
          mean_of(values) ==
          doctest::Approx(low + (dtype == Dtype::BFloat16 && low > 1 ? 0.25 : 0.5)).epsilon(0.005));
    }
  }
}

TEST_CASE("uniform numbers between ends that are farther apart than any number are finite") {
  const auto check = [](Dtype dtype, float end) {
    CAPTURE(dtype);
    const array low(-end, dtype);
    const array high(end, dtype);
    const array several = astype(array({end, end / 2, 1.0F}), dtype);
    const array lows = negative(several);

    const auto values = floats(keyed::uniform(low, high, {30001}, dtype, keyed::key(7)));
    const auto rows = floats(keyed::uniform(lows, several, {10001, 3}, dtype, keyed::key(7)));

    const auto units = floats(keyed::uniform({30001}, dtype, keyed::key(7)));
    const float epsilon = dtype == Dtype::BFloat16  ? 0x1p-8F
                          : dtype == Dtype::Float16 ? 0x1p-11F
                                                    : 0x1p-22F;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = static_cast<double>(end) * (2 * static_cast<double>(units[i]) - 1);
      REQUIRE(std::abs(values[i] - expected) <= epsilon * end);
      REQUIRE(values[i] < end);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(std::abs(rows[i]) <= floats(several)[i % 3]);
    }
  };

  check(Dtype::Float16, 60000);
  check(Dtype::BFloat16, 0x1.8p127F);
  check(Dtype::Float32, 3e38F);
}

TEST_CASE("random integers from the whole range of a type stay in it") {
  const auto ends = keyed::randint(INT64_MIN, INT64_MAX, {10007}, Dtype::Int64, keyed::key(1))
                        .to_vector<std::int64_t>();
  const auto [least, greatest] = std::minmax_element(ends.begin(), ends.end());
  CHECK(*least < INT64_MIN / 2);
  CHECK(*greatest > INT64_MAX / 2);
  CHECK(*greatest < INT64_MAX);

  const auto top =
      keyed::randint(array(UINT64_MAX - 5), array(UINT64_MAX), {1009}, Dtype::UInt64, keyed::key(1))
          .to_vector<std::uint64_t>();
  CHECK(*std::min_element(top.begin(), top.end()) >= UINT64_MAX - 5);
  CHECK(*std::max_element(top.begin(), top.end()) < UINT64_MAX);
}

TEST_CASE("splitting gives keys of their own, the same each time") {
  const array keys = keyed::split(keyed::key(5), 4);
  CHECK(keys.shape() == Shape{4, 2});
  CHECK(keys.to_vector<std::uint32_t>() == reference(5, 8));
  const auto [first, second] = keyed::split(keyed::key(5));
  const Words words = reference(5, 4);
  CHECK(first.to_vector<std::uint32_t>() == Words{words[0], words[1]});
  CHECK(second.to_vector<std::uint32_t>() == Words{words[2], words[3]});
  // A row of keys is a key.
  CHECK(keyed::bits({2}, 4, second).to_vector<std::uint32_t>().size() == 2);
}

TEST_CASE("equal seeds give equal sequences, and each draw is another") {
  keyed::seed(42);
  const auto first = floats(keyed::uniform({5}));
  const auto second = floats(keyed::uniform({5}));
  keyed::seed(42);
  CHECK(floats(keyed::uniform({5})) == first);
  CHECK(floats(keyed::uniform({5})) == second);
  CHECK(first != second);

  // What the default key gives is what split() gives.
  keyed::seed(42);
  const auto next = keyed::split(keyed::key(42)).second;
  CHECK(floats(keyed::uniform({5})) == floats(keyed::uniform({5}, Dtype::Float32, next)));
}

TEST_CASE("every thread has a default key of its own") {
  keyed::seed(1);
  std::vector<float> there;
  std::thread([&] {
    keyed::seed(1);
    there = floats(keyed::uniform({3}));
  }).join();
  CHECK(floats(keyed::uniform({3})) == there);
}

TEST_CASE("uniform numbers fill their range and do not reach its end") {
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16}) {
    const auto values = floats(keyed::uniform({20000}, dtype, keyed::key(1)));
    CHECK(*std::ranges::min_element(values) >= 0);
    CHECK(*std::ranges::max_element(values) < 1);
    CHECK(mean_of(values) == doctest::Approx(0.5).epsilon(0.02));
    CHECK(deviation_of(values) == doctest::Approx(0.2887).epsilon(0.02));
  }
  const auto shifted =
      floats(keyed::uniform(array(-2.0F), array(4.0F), {10000}, Dtype::Float32, keyed::key(2)));
  CHECK(*std::ranges::min_element(shifted) >= -2);
  CHECK(*std::ranges::max_element(shifted) < 4);
  CHECK(mean_of(shifted) == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("uniform numbers are the bits over 2^32") {
  const auto values = floats(keyed::uniform({33}, Dtype::Float32, keyed::key(6)));
  const Words words = reference(6, 33);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(values[i] == doctest::Approx(words[i] * 0x1p-32).epsilon(1e-6));
  }
}

TEST_CASE("normal numbers have their mean and deviation, and tails") {
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16}) {
    const auto values = floats(keyed::normal({40000}, dtype, 3, 2, keyed::key(1)));
    CHECK(mean_of(values) == doctest::Approx(3).epsilon(0.02));
    CHECK(deviation_of(values) == doctest::Approx(2).epsilon(0.02));
    const auto beyond = std::ranges::count_if(values, [](float v) { return std::abs(v - 3) > 4; });
    CHECK(static_cast<double>(beyond) / 40000 == doctest::Approx(0.0455).epsilon(0.1));
    CHECK(std::ranges::all_of(values, [](float v) { return std::isfinite(v); }));
  }
  const auto each = floats(keyed::normal({2, 10000}, Dtype::Float32, array({{0.0F}, {10.0F}}),
                                         array({{1.0F}, {0.1F}}), keyed::key(3)));
  CHECK(mean_of({each.begin() + 10000, each.end()}) == doctest::Approx(10).epsilon(0.01));
}

TEST_CASE("complex normal numbers have two parts, which share the deviation as MLX has it") {
  const array z = keyed::normal({10000}, Dtype::Complex64, 1, 2, keyed::key(1));
  CHECK(z.dtype() == Dtype::Complex64);
  CHECK(z.shape() == Shape{10000});
  CHECK(mean_of(floats(real(z))) == doctest::Approx(1).epsilon(0.1));
  CHECK(deviation_of(floats(real(z))) == doctest::Approx(std::sqrt(2.0)).epsilon(0.05));
  CHECK(deviation_of(floats(imag(z))) == doctest::Approx(std::sqrt(2.0)).epsilon(0.05));
}

TEST_CASE("truncated normal numbers stay between their ends") {
  const auto values = floats(
      keyed::truncated_normal(array(-0.5F), array(1.0F), {5000}, Dtype::Float32, keyed::key(1)));
  CHECK(*std::ranges::min_element(values) >= -0.5F);
  CHECK(*std::ranges::max_element(values) <= 1);
  CHECK(mean_of(values) == doctest::Approx(0.2070).epsilon(0.1));
  CHECK(keyed::truncated_normal(array{-1.0F, 0.0F}, array(1.0F)).shape() == Shape{2});
}

TEST_CASE("random integers cover their range") {
  const auto values =
      keyed::randint(-3, 4, {5000}, Dtype::Int32, keyed::key(1)).to_vector<std::int32_t>();
  for (int wanted = -3; wanted < 4; ++wanted) {
    CHECK(std::ranges::count(values, wanted) > 5000 / 7 / 2);
  }
  CHECK(*std::ranges::min_element(values) == -3);
  CHECK(*std::ranges::max_element(values) == 3);
  CHECK(keyed::randint(0, 2, {3}, Dtype::UInt8).dtype() == Dtype::UInt8);
  CHECK(keyed::randint(array{0, 100}, array{1, 101}, {4, 2}).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{0, 100, 0, 100, 0, 100, 0, 100});
}

TEST_CASE("truths come with their probability") {
  const auto values = floats(keyed::bernoulli(0.3F, {20000}, keyed::key(1)));
  CHECK(mean_of(values) == doctest::Approx(0.3).epsilon(0.05));
  CHECK(mean_of(floats(keyed::bernoulli(1.0F, {1000}))) == 1);
  CHECK(mean_of(floats(keyed::bernoulli(0.0F, {1000}))) == 0);
  CHECK(keyed::bernoulli().shape().empty());
  CHECK(keyed::bernoulli(array{0.0F, 1.0F}).to_vector<bool>() == std::vector<bool>{false, true});
}

TEST_CASE("the Gumbel distribution has its mean") {
  const auto values = floats(keyed::gumbel({20000}, Dtype::Float32, keyed::key(1)));
  CHECK(mean_of(values) == doctest::Approx(0.5772).epsilon(0.05));
}

TEST_CASE("categories come with the probabilities of their logits") {
  const array logits({{0.0F, std::log(3.0F)}, {-INFINITY, 0.0F}});
  const array samples = keyed::categorical(logits, -1, 4000, keyed::key(1));
  CHECK(samples.shape() == Shape{2, 4000});
  CHECK(samples.dtype() == Dtype::UInt32);
  const auto drawn = floats(samples);
  CHECK(mean_of({drawn.begin(), drawn.begin() + 4000}) == doctest::Approx(0.75).epsilon(0.05));
  CHECK(mean_of({drawn.begin() + 4000, drawn.end()}) == 1);
  CHECK(keyed::categorical(logits).shape() == Shape{2});
  CHECK(keyed::categorical(logits, 0).shape() == Shape{2});
  CHECK(keyed::categorical(logits, -1, Shape{7, 2}).shape() == Shape{7, 2});
}

TEST_CASE("permutations have every number once") {
  auto order = keyed::permutation(1000, keyed::key(1)).to_vector<std::uint32_t>();
  CHECK_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    CHECK(order[i] == i);
  }
  const array rows(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}, Shape{3, 2});
  const auto mixed = keyed::permutation(rows, 0, keyed::key(2)).to_vector<std::int32_t>();
  for (std::size_t i = 0; i < mixed.size(); i += 2) {
    CHECK(mixed[i] + 1 == mixed[i + 1]);
  }
  CHECK(keyed::permutation(0).size() == 0);
}

TEST_CASE("keys, types and shapes that make no sense are refused") {
  CHECK_THROWS_AS(keyed::bits({2}, 4, array{1, 2}), std::invalid_argument);
  CHECK_THROWS_AS(keyed::bits({2}, 4, array{1U, 2U, 3U}), std::invalid_argument);
  CHECK_THROWS_AS(keyed::bits({2}, 3), std::invalid_argument);
  CHECK_THROWS_AS(keyed::bits({-1}), std::invalid_argument);
  CHECK_THROWS_AS(keyed::uniform({2}, Dtype::Int32), std::invalid_argument);
  CHECK_THROWS_AS(keyed::uniform(array{1.0F, 2.0F, 3.0F}, array(4.0F), {2}), std::invalid_argument);
  CHECK_THROWS_AS(keyed::randint(0, 5, {2}, Dtype::Float32), std::invalid_argument);
  CHECK_THROWS_WITH_AS(keyed::randint(0, 300, {2}, Dtype::UInt8),
                       "[random::randint] numbers from 0 to 299, which type uint8 does not have",
                       std::invalid_argument);
  CHECK_THROWS_AS(keyed::randint(-1, 2, {2}, Dtype::UInt64), std::invalid_argument);
  CHECK_THROWS_AS(keyed::bernoulli(array(1), Shape{2}), std::invalid_argument);
  CHECK_THROWS_AS(keyed::categorical(array{1.0F, 2.0F}, 1), std::invalid_argument);
  CHECK_THROWS_AS(keyed::permutation(-1), std::invalid_argument);
  CHECK_THROWS_AS(keyed::split(keyed::key(1), -2), std::invalid_argument);
}

TEST_CASE("what is refused names the function that was called") {
  const auto refuses = [](const std::string& name, const auto& draw) {
    std::string text = "nothing";
    try {
      draw();
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    CHECK_MESSAGE(text.starts_with("[random::" + name + "] "), name, " says ", text);
  };
  const array two = array{1.0F, 2.0F};
  const array three = array{1.0F, 2.0F, 3.0F};
  const array bad{1, 2};

  refuses("uniform", [&] { keyed::uniform(two, three, {2}); });
  refuses("uniform", [&] { keyed::uniform(two, two, {3}); });
  refuses("normal", [&] { keyed::normal({3}, Dtype::Float32, two, three); });
  refuses("randint", [&] { keyed::randint(two, three, {2}); });
  refuses("randint", [&] { keyed::randint(two, two, {3}); });
  refuses("truncated_normal", [&] { keyed::truncated_normal(two, three); });
  refuses("truncated_normal", [&] { keyed::truncated_normal(two, two, Shape{3}); });
  refuses("bernoulli", [&] { keyed::bernoulli(two, Shape{3}); });
  refuses("categorical", [&] { keyed::categorical(pewter::zeros({2, 0}), -1); });
  refuses("categorical", [&] { keyed::categorical(two, 0, -3); });
  refuses("categorical", [&] { keyed::categorical(pewter::zeros({2, 3}), 1, Shape{3}); });

  refuses("split", [&] { keyed::split(bad); });
  refuses("split", [&] { keyed::split(bad, 3); });
  refuses("uniform", [&] { keyed::uniform(two, two, {2}, Dtype::Float32, bad); });
  refuses("randint", [&] { keyed::randint(0, 5, {2}, Dtype::Int32, bad); });
  refuses("truncated_normal", [&] { keyed::truncated_normal(two, two, Dtype::Float32, bad); });
  refuses("bernoulli", [&] { keyed::bernoulli(0.5F, {2}, bad); });
  refuses("gumbel", [&] { keyed::gumbel({2}, Dtype::Float32, bad); });
  refuses("categorical", [&] { keyed::categorical(two, 0, bad); });
  refuses("permutation", [&] { keyed::permutation(3, bad); });
}
