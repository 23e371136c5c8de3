#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/metal/executor/executor_support.h"

namespace pewter::executor::test {
namespace {

constexpr std::uint32_t kMasks[] = {0xffffffff, 0x1, 0x80000000, 0x0000ffff, 0x5a5a0f01};

bool is_active(std::uint32_t mask, std::uint32_t lane) {
  return (mask >> lane & 1) != 0;
}

/// Runs a kernel of one simdgroup in which the lanes of `mask` take part.
template <typename T>
std::vector<T> run_simd(const std::string& name,
                        std::vector<T> values,
                        std::uint32_t mask,
                        const std::vector<std::uint16_t>& numbers = {}) {
  const auto kernel = simd_kernel(name);
  const Fault fault = run(dispatch(*kernel, {32}, {32}, {values.data(), &mask, numbers.data()}));
  CHECK(!fault);
  return values;
}

template <typename T>
std::vector<T> samples() {
  std::vector<T> values;
  for (int i = 0; i < 32; ++i) {
    // Small odd numbers, so that products neither vanish nor, as floats, round.
    values.push_back(static_cast<T>(i % 5 == 0 ? 3 : 1) * static_cast<T>(i % 2 == 0 ? 1 : -1));
  }
  return values;
}

/// Checks a reduction against a plain loop over the active lanes of each vector of `width` lanes.
template <typename T>
void check_reduce(const std::string& name,
                  std::uint32_t width,
                  const std::function<T(T, T)>& combine) {
  for (const std::uint32_t mask : kMasks) {
    const auto in = samples<T>();
    const auto out = run_simd<T>(name, in, mask);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      T expected = in[lane];
      if (is_active(mask, lane)) {
        bool first = true;
        for (std::uint32_t i = lane / width * width; i < (lane / width + 1) * width; ++i) {
          if (is_active(mask, i)) {
            expected = first ? in[i] : combine(expected, in[i]);
            first = false;
          }
        }
      }
      CAPTURE(name);
      CAPTURE(mask);
      CAPTURE(lane);
      CHECK(out[lane] == expected);
    }
  }
}

template <typename T>
void check_scan(const std::string& name,
                std::uint32_t width,
                bool inclusive,
                T start,
                const std::function<T(T, T)>& combine) {
  for (const std::uint32_t mask : kMasks) {
    const auto in = samples<T>();
    const auto out = run_simd<T>(name, in, mask);
    for (std::uint32_t base = 0; base < 32; base += width) {
      T sum = start;
      for (std::uint32_t lane = base; lane < base + width; ++lane) {
        T expected = in[lane];
        if (is_active(mask, lane)) {
          expected = inclusive ? combine(sum, in[lane]) : sum;
          sum = combine(sum, in[lane]);
        }
        CAPTURE(name);
        CAPTURE(mask);
        CAPTURE(lane);
        CHECK(out[lane] == expected);
      }
    }
  }
}

template <typename T>
void check_arithmetic(const std::string& group, std::uint32_t width, const std::string& type) {
  const auto add = [](T a, T b) { return static_cast<T>(a + b); };
  const auto multiply = [](T a, T b) { return static_cast<T>(a * b); };
  check_reduce<T>(group + "_sum_" + type, width, add);
  check_reduce<T>(group + "_product_" + type, width, multiply);
  check_reduce<T>(group + "_min_" + type, width, [](T a, T b) { return std::min(a, b); });
  check_reduce<T>(group + "_max_" + type, width, [](T a, T b) { return std::max(a, b); });
  check_scan<T>(group + "_inclusive_sum_" + type, width, true, T(0), add);
  check_scan<T>(group + "_exclusive_sum_" + type, width, false, T(0), add);
  check_scan<T>(group + "_inclusive_product_" + type, width, true, T(1), multiply);
  check_scan<T>(group + "_exclusive_product_" + type, width, false, T(1), multiply);
}

template <typename T>
void check_bitwise(const std::string& group, std::uint32_t width, const std::string& type) {
  check_reduce<T>(group + "_and_" + type, width, [](T a, T b) { return a & b; });
  check_reduce<T>(group + "_or_" + type, width, [](T a, T b) { return a | b; });
  check_reduce<T>(group + "_xor_" + type, width, [](T a, T b) { return a ^ b; });
  check_reduce<T>(group + "_broadcast_first_" + type, width, [](T a, T) { return a; });
}

TEST_CASE("reductions and scans of every type act on the active lanes of a simdgroup") {
  check_arithmetic<std::int32_t>("simd", 32, "int");
  check_arithmetic<std::uint32_t>("simd", 32, "uint");
  check_arithmetic<std::int64_t>("simd", 32, "long");
  check_arithmetic<std::uint64_t>("simd", 32, "ulong");
  check_arithmetic<float>("simd", 32, "float");
  check_bitwise<std::uint32_t>("simd", 32, "uint");
  check_bitwise<std::uint64_t>("simd", 32, "ulong");
}

TEST_CASE("reductions and scans of every type act on the active lanes of a quad") {
  check_arithmetic<std::int32_t>("quad", 4, "int");
  check_arithmetic<std::uint32_t>("quad", 4, "uint");
  check_arithmetic<std::int64_t>("quad", 4, "long");
  check_arithmetic<std::uint64_t>("quad", 4, "ulong");
  check_arithmetic<float>("quad", 4, "float");
  check_bitwise<std::uint32_t>("quad", 4, "uint");
  check_bitwise<std::uint64_t>("quad", 4, "ulong");
}

TEST_CASE("minimum and maximum pass over NaN unless there is nothing else") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(32, nan);

  CHECK(std::isnan(run_simd<float>("simd_min_float", values, 0xffffffff)[0]));
  values[3] = 5;
  values[9] = -2;
  CHECK(run_simd<float>("simd_min_float", values, 0xffffffff)[0] == -2);
  CHECK(run_simd<float>("simd_max_float", values, 0xffffffff)[31] == 5);
}

TEST_CASE("a sum of minus zeros is minus zero and an exclusive sum starts at plus zero") {
  const std::vector<float> zeros(32, -0.0F);
  CHECK(std::signbit(run_simd<float>("simd_sum_float", zeros, 0xff)[0]));
  CHECK(!std::signbit(run_simd<float>("simd_exclusive_sum_float", zeros, 0xf0)[4]));
}

using Source = std::function<int(int lane, int argument)>;

/// Checks a shuffle: `source` gives the lane inside the vector, or -1 when the value stays.
void check_shuffle(const std::string& name, int width, const Source& source) {
  for (const std::uint32_t mask : kMasks) {
    for (const std::uint16_t argument : {0, 1, 2, 3, 5, 17, 31}) {
      std::vector<std::uint64_t> in;
      std::vector<std::uint64_t> expected;
      for (std::uint64_t i = 0; i < 32; ++i) {
        in.push_back(0x100000000 + i);
      }
      for (int lane = 0; lane < 32; ++lane) {
        const int base = lane / width * width;
        const int from = source(lane - base, argument);
        const auto own = in[static_cast<std::size_t>(lane)];
        if (!is_active(mask, static_cast<std::uint32_t>(lane)) || from < 0 || from >= width) {
          expected.push_back(own);
        } else {
          const auto at = static_cast<std::uint32_t>(base + from);
          expected.push_back(is_active(mask, at) ? in[at] : 0);
        }
      }
      CAPTURE(name);
      CAPTURE(mask);
      CAPTURE(argument);
      CHECK(run_simd(name, in, mask, std::vector<std::uint16_t>(32, argument)) == expected);
    }
  }
}

TEST_CASE("shuffles read from the lane that their name says") {
  for (const int width : {32, 4}) {
    const std::string group = width == 32 ? "simd" : "quad";
    check_shuffle(group + "_shuffle", width, [](int, int argument) { return argument; });
    check_shuffle(group + "_broadcast", width, [](int, int argument) { return argument; });
    check_shuffle(group + "_shuffle_up", width, [](int lane, int delta) { return lane - delta; });
    check_shuffle(group + "_shuffle_down", width, [](int lane, int delta) { return lane + delta; });
    check_shuffle(group + "_shuffle_xor", width, [](int lane, int bits) { return lane ^ bits; });
    check_shuffle(group + "_shuffle_rotate_up", width,
                  [&](int lane, int delta) { return (lane - delta + 4 * 32) % width; });
    check_shuffle(group + "_shuffle_rotate_down", width,
                  [&](int lane, int delta) { return (lane + delta) % width; });
  }
}

TEST_CASE("shuffles that fill take what falls outside from the second operand") {
  std::vector<std::uint32_t> in;
  for (std::uint32_t i = 0; i < 32; ++i) {
    in.push_back(i);
  }
  for (const std::uint16_t modulo : {2, 4, 8, 16, 32}) {
    for (std::uint16_t delta = 0; delta < modulo; ++delta) {
      const auto up = run_simd("simd_fill_up", in, 0xffffffff, {delta, modulo});
      const auto down = run_simd("simd_fill_down", in, 0xffffffff, {delta, modulo});
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t base = lane / modulo * modulo;
        const std::uint32_t at = lane - base;
        CAPTURE(modulo);
        CAPTURE(delta);
        CAPTURE(lane);
        CHECK(up[lane] == (at >= delta ? lane - delta : 1000 + base + modulo + at - delta));
        CHECK(down[lane] ==
              (at + delta < modulo ? lane + delta : 1000 + base + at + delta - modulo));
      }
    }
  }
}

TEST_CASE("votes count the active lanes only") {
  std::vector<std::uint64_t> values(32);
  values[1] = values[4] = values[30] = 1;

  CHECK(run_simd<std::uint64_t>("simd_ballot", values, 0xffffffff)[0] == 0x40000012);
  CHECK(run_simd<std::uint64_t>("simd_ballot", values, 0x0000000f)[3] == 0x2);
  CHECK(run_simd<std::uint64_t>("simd_any", values, 0x0000000c)[2] == 0);
  CHECK(run_simd<std::uint64_t>("simd_any", values, 0x0000001c)[2] == 1);
  CHECK(run_simd<std::uint64_t>("simd_all", values, 0x40000012)[4] == 1);
  CHECK(run_simd<std::uint64_t>("simd_all", values, 0x40000013)[4] == 0);
  CHECK(run_simd<std::uint64_t>("simd_active_mask", values, 0x5a5a0f01)[0] == 0x5a5a0f01);
  CHECK(run_simd<std::uint64_t>("quad_ballot", values, 0xffffffff)[5] == 0x1);
  CHECK(run_simd<std::uint64_t>("quad_active_mask", values, 0x5a5a0f01)[17] == 0xa);
}

TEST_CASE("the first active lane knows that it is first") {
  const auto simd =
      run_simd<std::uint64_t>("simd_is_first", std::vector<std::uint64_t>(32, 9), 0x5a5a0f00);
  const auto quad =
      run_simd<std::uint64_t>("quad_is_first", std::vector<std::uint64_t>(32, 9), 0x5a5a0f00);

  CHECK(simd[7] == 9);
  CHECK(simd[8] == 1);
  CHECK(simd[9] == 0);
  CHECK(quad[8] == 1);
  CHECK(quad[17] == 1);
  CHECK(quad[19] == 0);
}

TEST_CASE("a simdgroup multiplies 8x8 matrices") {
  const auto kernel = simd_kernel("matrix_multiply");
  const std::uint32_t mask = 0xffffffff;
  std::vector<float> a(64), b(64), c(64), out(64);
  for (int i = 0; i < 64; ++i) {
    const auto at = static_cast<std::size_t>(i);
    a[at] = static_cast<float>(i % 7 - 3);
    b[at] = static_cast<float>(i % 11 - 5);
    c[at] = static_cast<float>(i);
  }

  const Fault fault =
      run(dispatch(*kernel, {32}, {32}, {a.data(), &mask, b.data(), c.data(), out.data()}));

  CHECK(!fault);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float expected = c[row * 8 + column];
      for (std::size_t k = 0; k < 8; ++k) {
        expected += a[row * 8 + k] * b[k * 8 + column];
      }
      CHECK(out[row * 8 + column] == expected);
    }
  }
}

TEST_CASE("a kernel that runs without fibers is alone in its simdgroup") {
  auto kernel = LoadedKernel::load(simd_object(), "simd_sum_int", {});
  REQUIRE(kernel);
  std::vector<std::int32_t> values = {1, 2, 3, 4};
  const std::uint32_t mask = 0xffffffff;

  const Fault fault = run(dispatch(**kernel, {4}, {4}, {values.data(), &mask}));

  CHECK(!fault);
  CHECK(values == std::vector<std::int32_t>{1, 2, 3, 4});
}

}  // namespace
}  // namespace pewter::executor::test
