#include <benchmark/benchmark.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/ops.h>
#include <pewter/random.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/data.h"
#include "bench/support/huge_pages.h"
#include "bench/support/measure.h"
#include "bench/support/traffic.h"

// Operations on whole arrays, each as one evaluation, and what memory alone would take.
namespace bench {
namespace {

using pewter::array;
using pewter::Shape;

constexpr std::size_t kRows = 4096;
constexpr std::size_t kColumns = 1024;

array uniform_array(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) {
    count *= length;
  }
  const std::vector<float> values = uniform_floats(static_cast<std::size_t>(count), -2, 2, 1);
  return array(values, shape);
}

std::string expect_near(double got, double expected, double tolerance) {
  return std::abs(got - expected) <= tolerance
             ? ""
             : std::to_string(got) + " instead of " + std::to_string(expected);
}

/// Evaluates what `make` makes of one array; `expected` is one element of it.
Prepared evaluation(const array& x,
                    const std::function<array(const array&)>& make,
                    std::size_t element,
                    double expected,
                    double tolerance) {
  auto last = std::make_shared<array>(0.0F);
  return {.run =
              [=] {
                *last = make(x);
                pewter::eval(*last);
              },
          .check =
              [=] {
                const array flat = pewter::reshape(*last, {-1});
                return expect_near(flat.to_vector<float>()[element], expected, tolerance);
              }};
}

/// Memory for traffic, on huge pages as that of large arrays is.
using Addresses = std::vector<float*>;

Prepared traffic(std::size_t count,
                 std::size_t arrays,
                 const std::function<void(const Addresses&)>& run) {
  auto memory = std::make_shared<std::vector<Array<float>>>();
  Addresses addresses;
  for (std::size_t i = 0; i < arrays; ++i) {
    addresses.push_back(memory->emplace_back(count, 1.0F).data());
  }
  return {.run = [memory, addresses, run] { run(addresses); }, .check = {}};
}

Prepared reading(std::size_t count) {
  return traffic(count, 1,
                 [=](const Addresses& a) { benchmark::DoNotOptimize(read_traffic(a[0], count)); });
}

// Results go to one of two arrays in turn: an evaluation keeps the result before it until it has
// its own.

Prepared copying(std::size_t count) {
  return traffic(count, 3, [=, turn = 0](const Addresses& a) mutable {
    copy_traffic(a[0], a[turn++ % 2 == 0 ? 1 : 2], count);
  });
}

Prepared joining(std::size_t count) {
  return traffic(count, 4, [=, turn = 0](const Addresses& a) mutable {
    join_traffic(a[0], a[1], a[turn++ % 2 == 0 ? 2 : 3], count);
  });
}

void add_bandwidth_works() {
  const auto elements = static_cast<double>(kElements);
  const Shape whole = {static_cast<std::int64_t>(kElements)};
  add("array_add_16M", Unit::GigabytesPerSecond, elements * 12, [=] {
    const array x = uniform_array(whole);
    const array y = pewter::ones(whole);
    y.eval();
    return evaluation(
        x, [y](const array& a) { return a + y; }, 5, x.to_vector<float>()[5] + 1, 1e-6);
  });
  add("array_add_16M/bandwidth", Unit::GigabytesPerSecond, elements * 12,
      [] { return joining(kElements); });
  add("array_gaussian_16M", Unit::GigabytesPerSecond, elements * 8, [=] {
    const array x = uniform_array(whole);
    const double value = x.to_vector<float>()[7];
    return evaluation(
        x, [](const array& a) { return pewter::exp(-pewter::square(a)); }, 7,
        std::exp(-value * value), 1e-6);
  });
  add("array_gaussian_16M/bandwidth", Unit::GigabytesPerSecond, elements * 8,
      [] { return copying(kElements); });
  add("array_sum_16M", Unit::GigabytesPerSecond, elements * 4, [=] {
    const array x = pewter::ones(whole);
    x.eval();
    return evaluation(
        x, [](const array& a) { return pewter::sum(a); }, 0, static_cast<double>(kElements), 0);
  });
  add("array_sum_16M/bandwidth", Unit::GigabytesPerSecond, elements * 4,
      [] { return reading(kElements); });
  // The smaller one may stay in a large cache, where memory is faster than any arithmetic.
  for (const std::size_t rows : {kRows, kElements / kColumns}) {
    const std::string name = rows == kRows ? "array_softmax_4096x1024" : "array_softmax_16M";
    const double bytes = static_cast<double>(rows * kColumns) * 8;
    add(name, Unit::GigabytesPerSecond, bytes, [=] {
      const array x = pewter::ones({static_cast<std::int64_t>(rows), kColumns});
      x.eval();
      return evaluation(
          x, [](const array& a) { return pewter::softmax(a, -1); }, 3, 1.0 / kColumns, 1e-8);
    });
    add(name + "/bandwidth", Unit::GigabytesPerSecond, bytes,
        [=] { return copying(rows * kColumns); });
  }
  add("array_layer_norm_4096x1024", Unit::GigabytesPerSecond, kRows * kColumns * 8.0, [] {
    const array x = uniform_array({kRows, kColumns});
    const double expected =
        pewter::fast::layer_norm(x, std::nullopt, std::nullopt, 1e-5F).to_vector<float>()[0];
    return evaluation(
        x,
        [](const array& a) {
          return pewter::fast::layer_norm(a, std::nullopt, std::nullopt, 1e-5F);
        },
        0, expected, 0);
  });
  add("array_layer_norm_4096x1024/bandwidth", Unit::GigabytesPerSecond, kRows * kColumns * 8.0,
      [] { return copying(kRows * kColumns); });
}

void add_random_works() {
  const Shape whole = {static_cast<std::int64_t>(kElements)};
  const auto works = {std::pair{"array_normal_16M", true}, std::pair{"array_uniform_16M", false}};
  for (const auto& [name, is_normal] : works) {
    const bool normal = is_normal;
    add(name, Unit::MegaelementsPerSecond, static_cast<double>(kElements), [=] {
      auto last = std::make_shared<array>(0.0F);
      return Prepared{
          .run =
              [=] {
                *last = normal ? pewter::random::normal(whole) : pewter::random::uniform(whole);
                pewter::eval(*last);
              },
          .check =
              [=] {
                return expect_near(pewter::mean(*last).item<float>(), normal ? 0 : 0.5, 0.01);
              }};
    });
  }
}

void add_product_works() {
  for (const std::int64_t n : {1024, 2048}) {
    const auto length = static_cast<double>(n);
    add("array_matmul_" + std::to_string(n), Unit::GigaflopsPerSecond, 2 * length * length * length,
        [n, length] {
          const array x = pewter::ones({n, n});
          x.eval();
          return evaluation(x, [](const array& a) { return pewter::matmul(a, a); }, 9, length, 0);
        });
  }
}

/// A vector and a matrix of 4 bits in groups of 64: bytes are those of the matrix alone.
void add_quantized_work() {
  constexpr std::int64_t kLength = 4096;
  const double bytes = kLength * kLength * (0.5 + 2 * 4.0 / 64);
  add("array_q4_matvec_4096", Unit::GigabytesPerSecond, bytes, [] {
    const auto parts =
        std::make_shared<std::vector<array>>(pewter::quantize(uniform_array({kLength, kLength})));
    pewter::eval(*parts);
    const array matrix = pewter::dequantize((*parts)[0], (*parts)[1], (*parts)[2]);
    const array x = uniform_array({kLength});
    const double expected = pewter::matmul(matrix, x).to_vector<float>()[7];
    return evaluation(
        x,
        [=](const array& a) {
          return pewter::quantized_matmul(a, (*parts)[0], (*parts)[1], (*parts)[2]);
        },
        7, expected, 0.01);
  });
}

/// The operations of a graph that no earlier one had, so that a call of it has to compile: the
/// digits of `number` choose them.
array unknown_expression(const array& x, std::uint64_t number) {
  array y = x;
  for (int i = 0; i < 24; ++i, number /= 3) {
    y = number % 3 == 0 ? y + x : number % 3 == 1 ? y * x : pewter::maximum(y, x);
  }
  return y;
}

void add_overhead_works() {
  constexpr int kOperations = 1000;
  add("array_chain_1000", Unit::Microseconds, kOperations, [] {
    const array x = pewter::ones({16});
    x.eval();
    return evaluation(
        x,
        [](const array& a) {
          array y = a;
          for (int i = 0; i < kOperations; ++i) {
            y = y + 1.0F;
          }
          return y;
        },
        3, kOperations + 1, 0);
  });
  add("array_create", Unit::Microseconds, kOperations, [] {
    return Prepared{.run =
                        [] {
                          for (int i = 0; i < kOperations; ++i) {
                            const array made = array::empty({256}, pewter::Dtype::Float32);
                          }
                        },
                    .check = {}};
  });
  // Building alone: nodes of an expression that nobody evaluates.
  add("array_build", Unit::Microseconds, kOperations, [] {
    const array x = pewter::ones({16});
    x.eval();
    return Prepared{.run =
                        [=] {
                          array y = x;
                          for (int i = 0; i < kOperations; ++i) {
                            y = y + x;
                          }
                        },
                    .check = {}};
  });
  // One evaluation of operations that do not fuse: a kernel each, of a row of 16 elements.
  add("array_unfused_1000", Unit::Microseconds, kOperations, [] {
    const array x = pewter::ones({16});
    x.eval();
    return evaluation(
        x,
        [](const array& a) {
          array y = a;
          for (int i = 0; i < kOperations; ++i) {
            y = pewter::softmax(y, -1);
          }
          return y;
        },
        3, 1.0 / 16, 1e-6);
  });
  // An evaluation for each of many tiny operations, each waited for.
  add("array_operation_waited", Unit::Microseconds, kOperations, [] {
    const array x = pewter::ones({16});
    x.eval();
    return Prepared{.run =
                        [=] {
                          for (int i = 0; i < kOperations; ++i) {
                            const array made = x + x;
                            pewter::eval(made);
                          }
                        },
                    .check = {}};
  });
  add("array_first_call", Unit::Milliseconds, 1, [] {
    // Other expressions in every process, or the disk would know them.
    const auto number = std::make_shared<std::uint64_t>(
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
    const array x = pewter::ones({64});
    x.eval();
    return Prepared{.run =
                        [=] {
                          const std::uint64_t mine = *number += 977;
                          const auto function =
                              pewter::compile([mine](const std::vector<array>& in) {
                                return std::vector<array>{unknown_expression(in[0], mine)};
                              });
                          pewter::eval(function({x}));
                        },
                    .check = {}};
  });
  add("array_compiled_call", Unit::Microseconds, 1, [] {
    const auto function =
        std::make_shared<pewter::ArrayFunction>(pewter::compile([](const std::vector<array>& in) {
          return std::vector<array>{pewter::tanh(in[0] * in[1] + 1.0F) / 2.0F};
        }));
    const array x = pewter::ones({64});
    x.eval();
    return Prepared{.run = [=] { pewter::eval((*function)({x, x})); }, .check = {}};
  });
}

}  // namespace
}  // namespace bench

int main(int argument_count, char** arguments) {
  bench::add_bandwidth_works();
  bench::add_random_works();
  bench::add_product_works();
  bench::add_quantized_work();
  bench::add_overhead_works();
  return bench::run_works(argument_count, arguments);
}
