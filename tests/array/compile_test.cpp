#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/ops.h>
#include <pewter/random.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

namespace {

using Unary = std::function<array(const array&)>;

struct Shapes {
  Shape traced;
  Shape other;
};

array counted(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) {
    count *= length;
  }
  return reshape(arange(0.0, static_cast<double>(count), 1.0, Dtype::Float32), shape);
}

/// Checks a function that was compiled without shapes, with lengths that it was not traced with
/// and then again with those that it was. Gives how often its body ran.
int check_shapeless(const Unary& function, const Shapes& shapes) {
  int runs = 0;
  const ArrayFunction compiled = compile(
      [&](const std::vector<array>& inputs) {
        ++runs;
        return std::vector<array>{function(inputs[0])};
      },
      true);
  for (const Shape& shape : {shapes.traced, shapes.other, shapes.traced, shapes.other}) {
    const array x = counted(shape);
    const array expected = function(x);
    const array got = compiled({x})[0];
    CHECK(got.shape() == expected.shape());
    CHECK(read(got) == read(expected));
  }
  return runs;
}

}  // namespace

TEST_CASE("shapeless functions that depend on lengths are right for other lengths") {
  const auto check = [](const char* name, const Shapes& shapes, const Unary& function) {
    CAPTURE(name);
    check_shapeless(function, shapes);
  };
  check("mean", {{2, 3}, {4, 5}}, [](const array& x) { return mean(x); });
  check("mean of rows", {{2, 3}, {4, 5}}, [](const array& x) { return mean(x, -1); });
  check("var", {{2, 3}, {4, 5}}, [](const array& x) { return var(x, 0); });
  check("std", {{2, 3}, {4, 5}}, [](const array& x) { return pewter::std(x); });
  check("max", {{2, 3}, {4, 5}}, [](const array& x) { return max(x, 1); });
  check("matmul", {{4, 3}, {2, 6}}, [](const array& x) { return matmul(x, transpose(x)); });
  check("softmax", {{4, 6}, {6, 4}}, [](const array& x) { return softmax(x, 0); });
  check("softmax of rows", {{4, 6}, {6, 4}}, [](const array& x) { return softmax(x, -1); });
  check("topk", {{4, 6}, {2, 9}}, [](const array& x) { return topk(x, 2); });
  check("roll", {{6}, {9}}, [](const array& x) { return roll(x, 2); });
  check("split", {{4, 2}, {8, 3}}, [](const array& x) { return split(x, 2)[1]; });
  check("zeros_like", {{2, 3}, {4, 5}}, [](const array& x) { return zeros_like(x) + x; });
  check("flatten", {{2, 3}, {4, 5}}, [](const array& x) { return flatten(x); });
  check("repeat", {{2, 3}, {4, 5}}, [](const array& x) { return repeat(x, 2, 0); });
  check("tile", {{2, 3}, {4, 5}}, [](const array& x) { return tile(x, {2, 2}); });
  check("tril", {{3, 3}, {4, 5}}, [](const array& x) { return tril(x); });
  check("inner", {{2, 3}, {4, 5}}, [](const array& x) { return inner(x, x); });
  check("cumsum", {{2, 3}, {4, 5}}, [](const array& x) { return cumsum(x, 1); });
  check("sort", {{2, 3}, {4, 5}}, [](const array& x) { return sort(-x, 0); });
  check("squeeze", {{1, 3}, {4, 5}}, [](const array& x) { return squeeze(x); });
  check("broadcast_to", {{3, 4}, {1, 4}}, [](const array& x) { return broadcast_to(x, {3, 4}); });
  check("contiguous", {{1, 4}, {3, 5}}, [](const array& x) { return contiguous(transpose(x)); });
  check("quantize", {{4, 64}, {2, 128}}, [](const array& x) { return quantize(x)[1]; });
  check("dequantize", {{4, 64}, {2, 128}}, [](const array& x) {
    const std::vector<array> parts = quantize(x);
    return dequantize(parts[0], parts[1], parts[2]);
  });
  for (const bool transpose : {true, false}) {
    check("quantized_matmul", {{4, 64}, {20, 64}}, [transpose](const array& x) {
      const std::vector<array> parts = quantize(ones({64, 64}));
      return quantized_matmul(x, parts[0], parts[1], parts[2], transpose);
    });
  }
  check("random", {{2}, {2}}, [](const array& x) {
    return random::normal({3, 4}, Dtype::Float32, 0, 1, astype(x, Dtype::UInt32));
  });
  check("random of a length", {{2, 3}, {4, 5}},
        [](const array& x) { return random::bernoulli(x * 0.05F, random::key(3)); });
  check("attention", {{1, 1, 4, 8}, {1, 1, 6, 8}}, [](const array& x) {
    return fast::scaled_dot_product_attention(x, x, x, 0.125F, "causal");
  });
  check("lengths that the body reads", {{2, 3}, {4, 5}},
        [](const array& x) { return x * static_cast<float>(x.shape()[1]); });
}

TEST_CASE("a shapeless function that does not depend on lengths is traced once") {
  const auto runs = [](const Shapes& shapes, const Unary& function) {
    return check_shapeless(function, shapes);
  };
  CHECK(runs({{2, 3}, {4, 5}}, [](const array& x) { return exp(-x) + 1.0F; }) == 1);
  CHECK(runs({{2, 3}, {4, 5}}, [](const array& x) { return x / sum(x, -1, true); }) == 1);
  CHECK(runs({{2, 3, 4}, {3, 2, 1}}, [](const array& x) { return sum(x, Axes{0, 2}); }) == 1);
  CHECK(runs({{2, 3}, {4, 5}}, [](const array& x) { return transpose(x) * 2.0F; }) == 1);
  CHECK(runs({{1, 6}, {4, 6}}, [](const array& x) { return reshape(transpose(x), {-1, 3}); }) == 1);
  CHECK(runs({{2, 6}, {4, 6}}, [](const array& x) { return reshape(transpose(x), {-1, 3}); }) == 1);
  CHECK(runs({{5}, {8}}, [](const array& x) { return slice(x, {-3}, {100}) + 1.0F; }) == 1);
  CHECK(runs({{5}, {8}}, [](const array& x) { return squeeze(expand_dims(x, 0), 0) + x; }) == 1);
  CHECK(runs({{5}, {8}}, [](const array& x) { return where(x > 3.0F, x, -x); }) == 1);
}

TEST_CASE("a key that is an argument of a shapeless function gives the numbers of that key") {
  const auto draw = [](const std::vector<array>& inputs) {
    const auto [first, second] = random::split(inputs[0]);
    return std::vector<array>{random::uniform({4}, Dtype::Float32, first),
                              random::normal({2, 2}, Dtype::Float32, 0, 1, second),
                              random::bits({5}, 1, inputs[0])};
  };
  const ArrayFunction compiled = compile(draw, true);
  for (const std::uint64_t seed : {3, 4, 3}) {
    const std::vector<array> expected = draw({random::key(seed)});
    const std::vector<array> got = compiled({random::key(seed)});
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(got[i].shape() == expected[i].shape());
      CHECK(read(got[i]) == read(expected[i]));
    }
  }
}

TEST_CASE("operations that cannot be compiled shapeless say so by name, at every call") {
  const auto text_of = [](const Unary& function) {
    const ArrayFunction compiled = compile(
        [&](const std::vector<array>& inputs) { return std::vector<array>{function(inputs[0])}; },
        true);
    std::string first;
    for (int i = 0; i < 2; ++i) {
      try {
        compiled({ones({4, 64})});
        return std::string("nothing was thrown");
      } catch (const std::invalid_argument& error) {
        first = error.what();
      }
    }
    return first;
  };
  const std::string rest =
      " cannot derive its result from other shapes; compile the function without shapeless";
  CHECK(text_of([](const array& x) { return slice_update(x, array(1.0F), {0, 0}, {2, 2}); }) ==
        "[compile] slice_update" + rest);
  CHECK(text_of([](const array& x) {
          fast::CustomKernelCall call;
          call.inputs = {x};
          call.output_shapes = {{1}};
          call.output_dtypes = {Dtype::Float32};
          return fast::metal_kernel("first", {"a"}, {"out"}, "out[0] = a[0];")(call)[0];
        }) == "[compile] custom_kernel_first_float_float" + rest);
}

TEST_CASE("an argument that a traced function leaks is refused, and nothing else") {
  array leaked(0.0F);
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    leaked = exp(inputs[0] + 1.0F);
    return std::vector<array>{inputs[0] * 2.0F};
  });
  CHECK(read(function({ones({4})})[0]) == std::vector<double>(4, 2));

  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(eval(leaked + ones({4})), std::invalid_argument);
    CHECK(read(ones({4}) + 3.0F) == std::vector<double>(4, 4));
  }
}

TEST_CASE("a compiled view of another type begins where its argument does") {
  std::vector<std::int8_t> bytes(32);
  std::iota(bytes.begin(), bytes.end(), std::int8_t{0});
  const array all(bytes);
  const ArrayFunction function = compile([](const std::vector<array>& inputs) {
    const array words = view(inputs[0], Dtype::Int32);
    return std::vector<array>{words, slice(words, {1}, {2}) + 0};
  });
  for (const std::int64_t start : {0, 4, 1, 3, 8}) {
    CAPTURE(start);
    const array part = slice(all, {start}, {start + 8});
    const auto expected = view(part, Dtype::Int32).to_vector<std::int32_t>();
    const std::vector<array> got = function({part});
    CHECK(got[0].to_vector<std::int32_t>() == expected);
    CHECK(got[1].item<std::int32_t>() == expected[1]);
  }
}

TEST_CASE("what a function captures may be evaluated by another thread while it is traced") {
  constexpr int kOperations = 300;
  for (int round = 0; round < 100; ++round) {
    array captured = ones({8});
    for (int i = 0; i < kOperations; ++i) {
      captured = captured + 0.5F;
    }
    std::atomic<int> ready = 0;
    const auto begin_together = [&] {
      ++ready;
      while (ready < 2) {
      }
    };
    std::thread other([&, captured] {
      begin_together();
      eval(captured);
    });
    begin_together();
    const ArrayFunction function = compile(
        [&](const std::vector<array>& inputs) { return std::vector<array>{inputs[0] + captured}; });
    const array sum = function({ones({8})})[0];
    other.join();
    REQUIRE(read(sum) == std::vector<double>(8, 2 + 0.5 * kOperations));
  }
}

TEST_CASE("threads that make the first call of a function together run its body once") {
  std::atomic<int> runs = 0;
  std::atomic<int> ready = 0;
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    ++runs;
    array result = inputs[0];
    for (int i = 0; i < 2000; ++i) {
      result = result + 1.0F;
    }
    return std::vector<array>{result};
  });

  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (float& result : results) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < 4) {
      }
      result = function({array({1.0F})})[0].item<float>();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  CHECK(runs == 1);
  CHECK(results == std::vector<float>(4, 2001));
}

TEST_CASE("a body that throws leaves its function to other calls") {
  int runs = 0;
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    if (++runs == 1) {
      throw std::runtime_error("the first time");
    }
    return std::vector<array>{inputs[0] + 1.0F};
  });

  CHECK_THROWS_WITH_AS(function({ones({2})}), "the first time", std::runtime_error);
  std::thread([&] { CHECK(read(function({ones({2})})[0]) == std::vector<double>(2, 2)); }).join();
  CHECK(read(function({ones({2})})[0]) == std::vector<double>(2, 2));
  CHECK(runs == 2);
}

TEST_CASE("a body may call compiled functions, itself among them, from its own and other threads") {
  const ArrayFunction other = compile(
      [](const std::vector<array>& inputs) { return std::vector<array>{inputs[0] * 2.0F}; });
  std::atomic<int> depth = 0;
  ArrayFunction function;
  function = compile([&](const std::vector<array>& inputs) {
    if (++depth > 2) {
      return other(inputs);
    }
    if (depth == 2) {
      return function(inputs);
    }
    array elsewhere(0.0F);
    std::thread([&] { elsewhere = function({ones({2})})[0] + other({ones({2})})[0]; }).join();
    return std::vector<array>{inputs[0] + elsewhere};
  });

  CHECK(read(function({ones({2})})[0]) == std::vector<double>(2, 5));
  CHECK(depth == 3);
}

TEST_CASE("the first call of a function of 200,000 operations takes seconds at most") {
  constexpr int kOperations = 100000;
  std::vector<array> captured;
  for (int i = 0; i < kOperations; ++i) {
    captured.push_back(array(std::vector<float>{1, 2}));
  }
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    array result = inputs[0];
    for (const array& each : captured) {
      result = result + each * each;
    }
    return std::vector<array>{result};
  });

  const auto begin = std::chrono::steady_clock::now();
  function({ones({2})});

  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}
