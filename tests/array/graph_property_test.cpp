#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/ops.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>

#include "pewter/array/evaluation/evaluate.h"
#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

/// Builds the same random graph each time it is given the same seed.
class RandomGraph {
 public:
  RandomGraph(unsigned seed, std::size_t count, Dtype dtype = Dtype::Float32)
      : random_(seed), count_(count), dtype_(dtype) {}

  /// `after` is called with each array that is made.
  template <typename After>
  std::vector<array> build(const After& after) {
    std::vector<array> made;
    const std::vector<double> values = numbers(kRows * kColumns, 0.5, 1.5, dtype_);
    made.push_back(make_array(values, {kRows, kColumns}, dtype_));
    made.push_back(slice(made[0], {0, 0}, {1, kColumns}));
    made.push_back(slice(made[0], {0, 1}, {kRows, 2}));
    while (made.size() < count_ + 3) {
      made.push_back(astype(next(made), dtype_));
      after(made.back());
    }
    return made;
  }

 private:
  static constexpr std::int64_t kRows = 6;
  static constexpr std::int64_t kColumns = 40;

  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  array any_of(const std::vector<array>& made) {
    // Mostly recent ones, so that chains become long.
    const std::size_t recent = std::min<std::size_t>(made.size(), 6);
    return pick(3) == 0 ? made[pick(made.size())] : made[made.size() - 1 - pick(recent)];
  }

  // Values stay around 1, so that rounding does not grow without bound.
  array next(const std::vector<array>& made) {
    const array a = any_of(made);
    const array b = any_of(made);
    switch (pick(9)) {
      case 0:
        return (a + b) * 0.5F;
      case 1:
        return sqrt(abs(a * b));
      case 2:
        return maximum(a, b);
      case 3:
        return where(a > b, a, b * 0.75F);
      case 4:
        return mean(broadcast_to(a, {kRows, kColumns}), static_cast<int>(pick(2)), true) + b * 0.1F;
      case 5:
        return contiguous(transpose(transpose(broadcast_to(a, {kRows, kColumns})) * 0.9F));
      case 6:
        return astype(a, Dtype::Float16);
      case 7:
        return reshape(reshape(broadcast_to(a, {kRows, kColumns}), {-1}) + 0.25F,
                       {kRows, kColumns}) *
               0.8F;
      default:
        return tanh(a) + 0.5F;
    }
  }

  std::mt19937 random_;
  std::size_t count_;
  Dtype dtype_;
};

std::vector<double> evaluated(const std::vector<array>& made, evaluation::Fusion fusion) {
  evaluation::schedule({&made.back(), 1}, fusion);
  return read(made.back());
}

}  // namespace

TEST_CASE("random graphs give the same bits fused, unfused and one operation at a time") {
  const auto check = [](unsigned seed, std::size_t count, Dtype dtype) {
    CAPTURE(seed);
    CAPTURE(count);
    CAPTURE(name_of(dtype));
    const auto graph = [&] { return RandomGraph(seed, count, dtype); };
    const auto nothing = [](const array&) {};
    const std::vector<double> fused = evaluated(graph().build(nothing), evaluation::Fusion::On);
    const std::vector<double> unfused = evaluated(graph().build(nothing), evaluation::Fusion::Off);
    const std::vector<double> single =
        evaluated(graph().build([](const array& a) { eval(a); }), evaluation::Fusion::On);
    CHECK(fused == unfused);
    CHECK(fused == single);
  };
  unsigned seed = 1;
  for (const std::size_t count : {1, 2, 3, 5, 8, 13, 20, 30, 40, 120, 200}) {
    check(seed++, count, Dtype::Float32);
  }
  for (const Dtype dtype : {Dtype::Float16, Dtype::BFloat16, Dtype::Int32, Dtype::UInt8}) {
    for (const std::size_t count : {3, 7, 14, 60}) {
      check(seed++, count, dtype);
    }
  }
}

TEST_CASE("an input that a later evaluation needs again is not overwritten") {
  array x = ones({100});
  x.eval();
  array shared = x + 1.0F;
  const array first = shared * 2.0F;
  const array second = shared * 3.0F;
  x = array(0.0F);
  shared = array(0.0F);
  CHECK(read(first) == std::vector<double>(100, 4));
  CHECK(read(second) == std::vector<double>(100, 6));
}

TEST_CASE("results of a random graph may be asked for one after the other") {
  for (unsigned seed = 20; seed < 26; ++seed) {
    CAPTURE(seed);
    std::vector<array> expected = RandomGraph(seed, 24).build([](const array& a) { eval(a); });
    std::vector<array> made = RandomGraph(seed, 24).build([](const array&) {});
    // Most arrays are dropped before anything is computed.
    made.erase(made.begin(), made.end() - 6);
    expected.erase(expected.begin(), expected.end() - 6);
    for (const std::size_t place : {3, 0, 5, 1, 4, 2}) {
      CAPTURE(place);
      CHECK(read(made[place]) == read(expected[place]));
      made[place] = array(0.0F);
    }
  }
}

TEST_CASE("two evaluations of one graph give the same bits") {
  const std::vector<double> values = numbers(200003, -1, 1, Dtype::Float32);
  const array x = make_array(values, {200003}, Dtype::Float32);
  const auto total = [&] { return sum(exp(x) * 0.37F).item<float>(); };
  const float first = total();
  for (int i = 0; i < 5; ++i) {
    CHECK(total() == first);
  }
}

TEST_CASE("an array that is held stays what it was while others reuse memory") {
  const array x = ones({1000}) * 3.0F;
  const array held = x + 1.0F;
  array chain = held;
  for (int i = 0; i < 10; ++i) {
    chain = chain * 1.5F;
    eval(chain);
  }
  CHECK(held.to_vector<float>() == std::vector<float>(1000, 4));
  CHECK(x.to_vector<float>() == std::vector<float>(1000, 3));
}

TEST_CASE("a chain that is evaluated step by step reuses its memory") {
  array x = ones({1 << 16});
  eval(x);
  for (int i = 0; i < 4; ++i) {
    const auto* before = x.metal_buffer();
    x = x + 1.0F;
    eval(x);
    CHECK(x.metal_buffer() == before);
  }
  CHECK(x.to_vector<float>()[7] == 5);
}

TEST_CASE("a deep graph is destroyed without recursion") {
  array x = ones({2});
  for (int i = 0; i < 200000; ++i) {
    x = x + 1.0F;
  }
  x = ones({1});
  CHECK(x.item<float>() == 1);
}

TEST_CASE("streams wait for each other's arrays") {
  const Stream first = new_stream();
  const Stream second = new_stream();
  const array x = add(ones({5000}), array(1.0F), first);
  const array y = multiply(x, array(3.0F), second);
  const array z = add(x, y, first);
  CHECK(z.to_vector<float>() == std::vector<float>(5000, 8));
  {
    const StreamContext context(second);
    CHECK(default_stream(default_device()) == second);
  }
  CHECK(default_stream(default_device()) != second);
  CHECK_THROWS_AS(default_stream(Device(DeviceType::Gpu, 3)), std::invalid_argument);
}

TEST_CASE("several threads may build on one array and evaluate at the same time") {
  const array shared = ones({1000}) * 2.0F;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const array result = sum(shared * static_cast<float>(t + 1));
        right += result.item<float>() == 2000.0F * static_cast<float>(t + 1) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == 80);
}
