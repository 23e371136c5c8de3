#include <doctest/doctest.h>
#include <pewter/mps.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "pewter/runtime/generator.h"
#include "pewter/runtime/philox.h"
#include "tests/api/mps_support.h"

using namespace pewter;
using namespace pewter::test;

namespace {

std::vector<std::uint8_t> state() {
  return mps::get_rng_state().to_vector<std::uint8_t>();
}

std::vector<float> draw(std::int64_t count = 9) {
  return mps::random::uniform({count}).to_vector<float>();
}

}  // namespace

TEST_CASE("mps 11: equal seeds give equal draws") {
  mps::manual_seed(7);
  const std::vector<float> first = draw();
  const std::vector<float> next = draw();
  mps::manual_seed(7);
  CHECK(draw() == first);
  CHECK(draw() == next);
  CHECK(first != next);
  mps::manual_seed(8);
  CHECK(draw() != first);
}

TEST_CASE("mps 11: a negative seed is taken modulo 2^64") {
  mps::manual_seed(-1);
  const std::vector<float> first = draw();
  mps::manual_seed(~0ULL);
  CHECK(draw() == first);
}

TEST_CASE("mps 11: draws continue from a state as they did the first time") {
  mps::manual_seed(3);
  draw();
  const array saved = mps::get_rng_state();
  const std::vector<float> first = draw();
  draw();
  mps::set_rng_state(saved);
  CHECK(draw() == first);
}

TEST_CASE("mps 11: the state is 44 bytes on the host, and a copy") {
  const array saved = mps::get_rng_state();
  CHECK(saved.size() == 44);
  CHECK(saved.dtype() == Dtype::UInt8);
  CHECK(saved.placement() == Placement::Host);
  const std::vector<std::uint8_t> before = state();
  saved.data<std::uint8_t>()[40] ^= 0xff;
  saved.data<std::uint8_t>()[5] ^= 0xff;
  CHECK(state() == before);
}

TEST_CASE("mps 11: a state may be strided, and is copied") {
  mps::manual_seed(5);
  draw();
  const std::vector<std::uint8_t> wanted = state();
  std::vector<std::uint8_t> spread;
  for (const std::uint8_t byte : wanted) {
    spread.insert(spread.end(), {byte, 0xee});
  }
  const array strided = array(spread, Placement::Host).slice(0, 88, 0, 2);
  mps::seed();
  mps::set_rng_state(strided);
  strided.data<std::uint8_t>()[0] ^= 0xff;
  CHECK(state() == wanted);
}

TEST_CASE("mps 11: a state of another length or type is refused and changes nothing") {
  const std::vector<std::uint8_t> before = state();
  CHECK_THROWS_AS(mps::set_rng_state(array(std::vector<std::uint8_t>(43), Placement::Host)),
                  std::runtime_error);
  CHECK_THROWS_AS(mps::set_rng_state(array(std::vector<float>(44), Placement::Host)), TypeError);
  CHECK(state() == before);
  mps::set_rng_state(array(std::vector<std::uint8_t>(before.begin(), before.begin() + 36)));
  CHECK(std::equal(before.begin(), before.begin() + 36, state().begin()));
}

TEST_CASE("mps 12: the first draw after setting a state changes it") {
  const array saved = mps::get_rng_state();
  mps::set_rng_state(saved);
  mps::random::uniform({1});
  CHECK(state() != saved.to_vector<std::uint8_t>());
}

TEST_CASE("mps 12: seeding from entropy gives a different state each time") {
  static_assert(std::is_void_v<decltype(mps::seed())>);
  mps::seed();
  const std::vector<std::uint8_t> first = state();
  mps::seed();
  CHECK(state() != first);
}

TEST_CASE("random words are those of the reference, whatever the size") {
  for (const std::int64_t count : {0, 1, 3, 4, 31, 32, 33, 1025, 4099}) {
    mps::manual_seed(0x123456789abcdefULL);
    runtime::Generator generator;
    generator.seed(0x123456789abcdefULL);
    const std::vector<std::uint32_t> words = mps::random::bits({count}).to_vector<std::uint32_t>();
    REQUIRE(words.size() == static_cast<std::size_t>(count));
    const runtime::RandomPosition start = generator.take(1);
    for (std::size_t i = 0; i < words.size(); ++i) {
      REQUIRE(words[i] ==
              runtime::philox(runtime::advanced(start.counter, i / 4), start.key)[i % 4]);
    }
  }
}

TEST_CASE("counters that carry give the words of the reference") {
  std::vector<std::uint8_t> bytes = state();
  std::fill(bytes.begin() + 4, bytes.begin() + 20, 0xff);
  bytes[4] = 0xfd;
  mps::set_rng_state(array(bytes, Placement::Host));
  runtime::Generator generator;
  generator.set_state(std::as_bytes(std::span(bytes)));
  const std::vector<std::uint32_t> words = mps::random::bits({40}).to_vector<std::uint32_t>();
  for (std::size_t block = 0; block < 10; ++block) {
    const runtime::RandomPosition at = generator.take(1);
    const runtime::PhiloxCounter expected = runtime::philox(at.counter, at.key);
    CHECK(std::equal(expected.begin(), expected.end(), words.begin() + block * 4));
  }
}

TEST_CASE("uniform numbers lie in their interval, evenly") {
  mps::manual_seed(1);
  const std::vector<float> values = mps::random::uniform({100000}, -1, 3).to_vector<float>();
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    REQUIRE(value >= -1);
    REQUIRE(value < 3);
    sum += value;
    squares += (value - 1.0) * (value - 1.0);
  }
  // Mean 1, variance 16/12; five standard errors.
  CHECK(std::abs(sum / 1e5 - 1.0) < 5 * 1.155 / std::sqrt(1e5));
  CHECK(std::abs(squares / 1e5 - 16.0 / 12) < 0.02);
}

TEST_CASE("uniform numbers of few bits never reach the upper end") {
  mps::manual_seed(2);
  for (const array& drawn : {mps::random::uniform({50000}, 0, 1, Dtype::Float16),
                             mps::random::uniform({50000}, 1, 1.01, Dtype::Float16)}) {
    for (const Float16 value : drawn.to_vector<Float16>()) {
      REQUIRE(static_cast<float>(value) < 1.01F);
      REQUIRE(static_cast<float>(value) >= 0);
    }
  }
  bool below_one = true;
  for (const BFloat16 value :
       mps::random::uniform({50000}, 0, 1, Dtype::BFloat16).to_vector<BFloat16>()) {
    below_one = below_one && static_cast<float>(value) < 1;
  }
  CHECK(below_one);
  CHECK(mps::random::uniform({3}, 2, 2).to_vector<float>() == std::vector<float>(3, 2.0F));
}

TEST_CASE("normal numbers follow the formula of Box and Muller on the reference's words") {
  mps::manual_seed(9);
  runtime::Generator generator;
  generator.seed(9);
  const std::vector<float> values = mps::random::normal({1001}, 2, 3).to_vector<float>();
  const runtime::RandomPosition start = generator.take(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto words = runtime::philox(runtime::advanced(start.counter, i / 4), start.key);
    const std::size_t pair = i % 4 / 2 * 2;
    const double radius = std::sqrt(-2 * std::log(((words[pair] >> 8) + 1) * 0x1p-24));
    const double angle = 2 * M_PI * (words[pair + 1] >> 8) * 0x1p-24;
    const double expected = 2 + 3 * radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    REQUIRE(values[i] == doctest::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("normal numbers have the mean and the deviation that were asked for") {
  mps::manual_seed(4);
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16}) {
    const array drawn = mps::random::normal({60000}, 1, 0.5, dtype);
    double sum = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < 60000; ++i) {
      const double value = dtype == Dtype::Float32 ? drawn.data<float>()[i]
                           : dtype == Dtype::Float16
                               ? static_cast<float>(drawn.data<Float16>()[i])
                               : static_cast<float>(drawn.data<BFloat16>()[i]);
      sum += value;
      squares += (value - 1) * (value - 1);
    }
    CHECK(std::abs(sum / 60000 - 1) < 0.011);
    CHECK(std::abs(std::sqrt(squares / 60000) - 0.5) < 0.01);
  }
}

TEST_CASE("random integers cover their range evenly, and no more") {
  mps::manual_seed(6);
  std::map<std::int64_t, int> counts;
  for (const std::int64_t value : mps::random::randint(-3, 4, {70000}).to_vector<std::int64_t>()) {
    ++counts[value];
  }
  REQUIRE(counts.size() == 7);
  CHECK(counts.begin()->first == -3);
  CHECK(counts.rbegin()->first == 3);
  for (const auto& [value, count] : counts) {
    CHECK(std::abs(count - 10000) < 500);
  }

  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t negative = 0;
  for (const std::int64_t value :
       mps::random::randint(kMin, kMax, {10000}).to_vector<std::int64_t>()) {
    negative += value < 0 ? 1 : 0;
  }
  CHECK(std::abs(negative - 5000) < 300);

  for (const std::uint8_t value :
       mps::random::randint(250, 256, {1000}, Dtype::UInt8).to_vector<std::uint8_t>()) {
    REQUIRE(value >= 250);
  }
}

TEST_CASE("coins fall with their probability") {
  mps::manual_seed(10);
  const auto heads = [](double probability) {
    const array coins = mps::random::bernoulli(probability, {20000});
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < 20000; ++i) {
      count += coins.data<bool>()[i] ? 1 : 0;
    }
    return count;
  };
  CHECK(heads(0) == 0);
  CHECK(heads(1) == 20000);
  CHECK(std::abs(heads(0.25) - 5000) < 320);
}

TEST_CASE("values that make no sense are refused before anything is drawn") {
  const std::vector<std::uint8_t> before = state();
  CHECK_THROWS_AS(mps::random::uniform({2}, 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::uniform({2}, 0, NAN), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::uniform({2}, 0, 1, Dtype::Int32), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::uniform({-2}), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::normal({2}, 0, -1), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::randint(3, 3, {2}), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::randint(0, 257, {2}, Dtype::UInt8), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::randint(0, 2, {2}, Dtype::Float32), std::invalid_argument);
  CHECK_THROWS_AS(mps::random::bernoulli(1.5, {2}), std::invalid_argument);
  CHECK(state() == before);
}

TEST_CASE("threads that draw at the same time never get the same numbers") {
  mps::manual_seed(11);
  std::vector<std::vector<std::uint32_t>> drawn(4);
  std::vector<std::thread> threads;
  for (std::vector<std::uint32_t>& mine : drawn) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const auto words = mps::random::bits({4}).to_vector<std::uint32_t>();
        mine.push_back(words[0] ^ words[1]);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<std::uint32_t> all;
  for (const std::vector<std::uint32_t>& mine : drawn) {
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}
