#include "pewter/runtime/generator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using pewter::runtime::Generator;
using pewter::runtime::RandomPosition;

namespace {

std::vector<int> bytes(const Generator::State& state) {
  std::vector<int> numbers;
  for (const std::byte byte : state) {
    numbers.push_back(std::to_integer<int>(byte));
  }
  return numbers;
}

bool same(const RandomPosition& left, const RandomPosition& right) {
  return left.counter == right.counter && left.key == right.key;
}

}  // namespace

TEST_CASE("the serialised state is seven words, the seed and the offset, little-endian") {
  Generator generator;
  generator.seed(0x1122334455667788);
  CHECK(bytes(generator.state()) ==
        std::vector<int>{1,    0,    0,    0,    1,    0,    0,    0,    1,    0,    0,
                         0,    1,    0,    0,    0,    1,    0,    0,    0,    0x88, 0x77,
                         0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, 0x44,
                         0x33, 0x22, 0x11, 0,    0,    0,    0,    0,    0,    0,    0});

  generator.take(3);
  const std::vector<int> after = bytes(generator.state());
  CHECK(after[4] == 4);
  CHECK(after[36] == 12);
}

TEST_CASE("a generator continues from a state as it did the first time") {
  Generator generator;
  generator.seed(7);
  generator.take(1000);
  const Generator::State state = generator.state();
  const RandomPosition first = generator.take(5);
  const RandomPosition second = generator.take(1);

  Generator other;
  other.set_state(state);
  CHECK(same(other.take(5), first));
  CHECK(same(other.take(1), second));
  CHECK(other.state() == generator.state());
}

TEST_CASE("a state of 36 bytes is taken with an offset of zero") {
  Generator generator;
  generator.seed(7);
  generator.take(2);
  const Generator::State state = generator.state();
  Generator other;
  other.set_state(std::span(state).first(36));
  const Generator::State restored = other.state();
  CHECK(std::equal(restored.begin(), restored.begin() + 36, state.begin()));
  CHECK(bytes(restored)[36] == 0);
  CHECK(same(other.take(1), generator.take(1)));
}

TEST_CASE("a state of another length is refused and changes nothing") {
  Generator generator;
  const Generator::State before = generator.state();
  for (const std::size_t length : {0, 35, 37, 43}) {
    CHECK_THROWS_AS(generator.set_state(std::span(before).first(length)), std::runtime_error);
  }
  CHECK(generator.state() == before);
}

TEST_CASE("generators start from different seeds, and so does seeding from entropy") {
  Generator first;
  Generator second;
  CHECK(first.state() != second.state());
  const Generator::State before = first.state();
  first.seed_from_entropy();
  CHECK(first.state() != before);
}

TEST_CASE("stretches taken by several threads never overlap") {
  Generator generator;
  generator.seed(1);
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kTakes = 2000;
  std::vector<std::vector<std::uint64_t>> begins(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<std::uint64_t>& mine : begins) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < kTakes; ++i) {
        mine.push_back(generator.take(3).counter[0]);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  std::vector<std::uint64_t> all;
  for (const std::vector<std::uint64_t>& mine : begins) {
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == kThreads * kTakes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(all[i] == 1 + 3 * i);
  }
}
