#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/support/gpu.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// Runs `expression`, in `x` (the thread's value), `lane` and `i`, on every thread.
template <typename T>
std::vector<T> run(const std::string& type,
                   const std::string& expression,
                   const std::vector<T>& in,
                   std::size_t group = 64) {
  const Gpu gpu;
  const std::string source = kHead + "kernel void f(device const " + type +
                             "* in [[buffer(0)]], device " + type +
                             "* out [[buffer(1)]], uint i [[thread_position_in_grid]],\n"
                             "  ushort lane [[thread_index_in_simdgroup]]) {\n  " +
                             type + " x = in[i];\n  out[i] = " + expression + ";\n}\n";
  std::vector<T> out(in.size());
  gpu.run(source, "f", {.grid = size(in.size()), .group = size(group)}, in, out);
  return out;
}

template <typename T>
std::vector<T> counted(std::size_t count, T first = 1) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// What each thread should get when `reduce` joins the values of its simdgroup.
template <typename T>
std::vector<T> expected(const std::vector<T>& in,
                        std::size_t group,
                        const std::function<T(const std::vector<T>&, std::size_t)>& reduce) {
  std::vector<T> out(in.size());
  for (std::size_t thread = 0; thread < in.size(); ++thread) {
    const std::size_t group_start = thread / group * group;
    const std::size_t start = group_start + (thread - group_start) / 32 * 32;
    const std::size_t end = std::min({start + 32, group_start + group, in.size()});
    out[thread] = reduce({in.begin() + start, in.begin() + end}, thread - start);
  }
  return out;
}

template <typename T>
T sum(const std::vector<T>& values, std::size_t) {
  return std::accumulate(values.begin(), values.end(), T(0));
}

}  // namespace

TEST_CASE("simdgroup reductions cover full and partial simdgroups") {
  // 100 threads in groups of 48: simdgroups of 32 and 16, and a last group of 4.
  const auto in = counted<int>(100);

  CHECK(run<int>("int", "simd_sum(x)", in, 48) == expected<int>(in, 48, sum<int>));
  CHECK(run<int>("int", "simd_min(x)", in, 48) ==
        expected<int>(in, 48, [](const auto& v, std::size_t) {
          return *std::min_element(v.begin(), v.end());
        }));
  CHECK(run<int>("int", "simd_max(x)", in, 48) ==
        expected<int>(in, 48, [](const auto& v, std::size_t) {
          return *std::max_element(v.begin(), v.end());
        }));
}

TEST_CASE("simdgroup sums work for every type") {
  CHECK(run<float>("float", "simd_sum(x)", counted<float>(64)) ==
        expected<float>(counted<float>(64), 64, sum<float>));
  CHECK(run<std::uint32_t>("uint", "simd_sum(x)", counted<std::uint32_t>(64)) ==
        expected<std::uint32_t>(counted<std::uint32_t>(64), 64, sum<std::uint32_t>));
  CHECK(run<std::int16_t>("short", "simd_sum(x)", counted<std::int16_t>(64)) ==
        expected<std::int16_t>(counted<std::int16_t>(64), 64, sum<std::int16_t>));
  CHECK(run<std::int8_t>("char", "simd_max(x)", counted<std::int8_t>(64, -100))[0] == -69);
  CHECK(run<float>("float", "float(simd_sum(half(x)))", counted<float>(32))[5] == 528);
  CHECK(run<float>("float", "float(simd_sum(bfloat(1)))", counted<float>(32))[5] == 32);
  CHECK(run<float>("float", "simd_sum(float3(x, 1, 2)).z", counted<float>(32))[5] == 64);
}

TEST_CASE("simdgroup products and bit operations join all active threads") {
  std::vector<std::int32_t> in(32, 1);
  in[3] = 6;
  in[31] = -7;
  CHECK(run<std::int32_t>("int", "simd_product(x)", in) == std::vector<std::int32_t>(32, -42));

  std::vector<std::uint32_t> bits(32, 0xf0);
  bits[7] = 0x1f3;
  CHECK(run<std::uint32_t>("uint", "simd_and(x)", bits)[0] == 0xf0);
  CHECK(run<std::uint32_t>("uint", "simd_or(x)", bits)[0] == 0x1f3);
  CHECK(run<std::uint32_t>("uint", "simd_xor(x)", bits)[0] == (0xf0U ^ 0x1f3U));
}

TEST_CASE("prefix sums and products run along the lanes") {
  const auto in = counted<int>(32);
  const auto inclusive = run<int>("int", "simd_prefix_inclusive_sum(x)", in);
  const auto exclusive = run<int>("int", "simd_prefix_exclusive_sum(x)", in);
  const auto product = run<int>("int", "simd_prefix_exclusive_product(lane < 5 ? x : 1)", in);

  CHECK(inclusive[0] == 1);
  CHECK(inclusive[31] == 528);
  CHECK(exclusive[0] == 0);
  CHECK(exclusive[31] == 496);
  CHECK(product[0] == 1);
  CHECK(product[4] == 24);
  CHECK(product[31] == 120);
}

TEST_CASE("shuffles move values between lanes") {
  const auto in = counted<int>(32, 100);
  const auto value = [&](const std::string& expression, std::size_t lane) {
    return run<int>("int", expression, in)[lane];
  };

  CHECK(value("simd_shuffle(x, 31 - lane)", 3) == 128);
  CHECK(value("simd_shuffle_xor(x, 5)", 8) == 113);
  CHECK(value("lane < 30 ? simd_shuffle_down(x, 2) : 0", 4) == 106);
  CHECK(value("simd_shuffle_up(x, 2)", 4) == 102);
  CHECK(value("simd_shuffle_rotate_down(x, 2)", 31) == 101);
  CHECK(value("simd_shuffle_rotate_up(x, 2)", 1) == 131);
  CHECK(value("simd_broadcast(x, 17)", 2) == 117);
  CHECK(value("simd_broadcast_first(x)", 20) == 100);
  CHECK(value("simd_shuffle_and_fill_up(x, lane, 3)", 1) == 30);
  CHECK(value("simd_shuffle_and_fill_up(x, lane, 3)", 5) == 102);
  CHECK(value("simd_shuffle_and_fill_down(x, lane, 3)", 30) == 1);
  CHECK(value("simd_shuffle_and_fill_down(x, lane, 3)", 5) == 108);
  CHECK(value("simd_shuffle_and_fill_up(x, 7, 1, 8)", 8) == 7);
  CHECK(value("simd_shuffle_and_fill_up(x, 7, 1, 8)", 9) == 108);
}

TEST_CASE("votes count the active threads only") {
  const auto in = counted<std::uint32_t>(40, 0);
  const auto value = [&](const std::string& expression, std::size_t thread) {
    return run<std::uint32_t>("uint", expression, in, 40)[thread];
  };

  CHECK(value("uint(simd_all(lane < 32))", 0) == 1);
  CHECK(value("uint(simd_all(lane < 31))", 0) == 0);
  CHECK(value("uint(simd_any(lane == 31))", 0) == 1);
  CHECK(value("uint(simd_any(lane == 31))", 35) == 0);
  CHECK(value("uint((ulong)simd_ballot(lane % 2 == 0))", 3) == 0x55555555);
  CHECK(value("uint((ulong)simd_active_threads_mask())", 3) == 0xffffffff);
  CHECK(value("uint((ulong)simd_active_threads_mask())", 39) == 0xff);
  CHECK(value("uint(simd_is_first())", 0) == 1);
  CHECK(value("uint(simd_is_first())", 1) == 0);
  CHECK(value("uint(simd_is_first())", 32) == 1);
}

TEST_CASE("operations in divergent code see just the threads that are there") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device int* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
      int x = int(lane);
      int result;
      if (lane < 10) {
        result = simd_sum(x);
      } else if (lane % 2 == 0) {
        result = simd_sum(1);
      } else {
        result = simd_is_first() ? -1 : -2;
      }
      out[lane] = result + 1000 * simd_sum(1);
    })";
  std::vector<int> out(32);

  gpu.run(source, "f", {.grid = size(32)}, out);

  CHECK(out[0] == 32045);
  CHECK(out[9] == 32045);
  CHECK(out[10] == 32011);
  CHECK(out[11] == 31999);
  CHECK(out[13] == 31998);
}

TEST_CASE("operations in a divergent loop run in lock step") {
  const Gpu gpu;
  // Thread n makes n rounds; in each round it adds how many threads are still there. Odd threads
  // skip every third round.
  const std::string source = kHead + R"(
    kernel void f(device int* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
      int total = 0;
      for (uint round = 0; round < lane; ++round) {
        if (lane % 2 == 1 && round % 3 == 0) continue;
        total += simd_sum(1);
      }
      out[lane] = total;
    })";
  std::vector<int> out(32);

  gpu.run(source, "f", {.grid = size(32)}, out);

  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    int total = 0;
    for (std::uint32_t round = 0; round < lane; ++round) {
      const auto takes_part = [&](std::uint32_t other) {
        return round < other && !(other % 2 == 1 && round % 3 == 0);
      };
      int active = 0;
      for (std::uint32_t other = 0; other < 32; ++other) {
        active += takes_part(other) ? 1 : 0;
      }
      total += takes_part(lane) ? active : 0;
    }
    CHECK(out[lane] == total);
  }
}

TEST_CASE("threads that returned early no longer take part") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device int* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
      out[lane] = -1;
      if (lane >= 20) return;
      out[lane] = simd_sum(1);
    })";
  std::vector<int> out(32);

  gpu.run(source, "f", {.grid = size(32)}, out);

  CHECK(out[0] == 20);
  CHECK(out[19] == 20);
  CHECK(out[20] == -1);
}

TEST_CASE("quad functions work on four threads at a time") {
  const auto in = counted<int>(32);
  const auto value = [&](const std::string& expression, std::size_t lane) {
    return run<int>("int", expression, in)[lane];
  };

  CHECK(value("quad_sum(x)", 0) == 10);
  CHECK(value("quad_sum(x)", 31) == 122);
  CHECK(value("quad_max(x)", 5) == 8);
  CHECK(value("quad_broadcast(x, 2)", 4) == 7);
  CHECK(value("quad_shuffle_xor(x, 1)", 6) == 8);
  CHECK(value("quad_prefix_inclusive_sum(x)", 6) == 18);
  CHECK(value("int(quad_is_first())", 8) == 1);
}

}  // namespace pewter
