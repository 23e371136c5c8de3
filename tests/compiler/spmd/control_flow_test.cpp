#include <limits>

#include "tests/compiler/spmd/shared_code.h"

// Control flow that differs between the lanes of a program, in every shape that MSL has.

namespace pewter {
namespace {

using test::check_shared;
using test::Gpu;
using test::kHead;
using test::size;
using test::uint;

// clang-format off
PEWTER_SHARED(uint, early_return, (uint i, uint x), {
  if (i % 3 == 0) return x;
  if (x < 20) return 7;
  uint sum = 0;
  for (uint k = 0; k < 5; ++k) {
    if ((x >> k & 7) == 5) return sum * 10 + k;
    sum += x >> (k * 3);
  }
  return sum;
})

PEWTER_SHARED(uint, trip_counts, (uint i, uint x), {
  uint sum = x;
  for (uint k = 0; k < i % 17; ++k) sum = sum * 31 + k;
  return sum;
})

PEWTER_SHARED(uint, nested_loops, (uint i, uint x), {
  uint sum = 0;
  for (uint a = 0; a < (x & 7); ++a) {
    for (uint b = a; b < (i & 7); ++b) {
      for (uint c = 0; c < ((x >> 5) & 3); ++c) sum += a * 100 + b * 10 + c;
      sum ^= b;
    }
    sum = sum * 3 + 1;
  }
  return sum;
})

PEWTER_SHARED(uint, break_and_continue, (uint i, uint x), {
  uint sum = 1;
  for (uint k = 0; k < 20; ++k) {
    if ((x >> (k % 16) & 1) != 0) continue;
    sum += k * i;
    if (sum % 7 == 3) break;
    sum ^= x;
    if (k > (i & 15)) { sum += 1000; break; }
  }
  return sum;
})

PEWTER_SHARED(uint, break_out_of_two_loops, (uint i, uint x), {
  uint found = 99;
  for (uint a = 0; a < 8 && found == 99; ++a) {
    for (uint b = 0; b < 8; ++b) {
      if (((x + a * b + i) & 31) == 17) { found = a * 8 + b; break; }
    }
  }
  return found;
})

PEWTER_SHARED(uint, return_from_inner_loop, (uint i, uint x), {
  for (uint a = 0; a < 6; ++a) {
    uint b = 0;
    while (true) {
      if (b > (x & 7)) break;
      if (((x >> b) + a + i) % 11 == 4) return a * 100 + b;
      ++b;
    }
  }
  return 12345;
})

PEWTER_SHARED(uint, switch_with_fall_through, (uint i, uint x), {
  uint r = 0;
  switch (x % 7) {
    case 0: r = 5; break;
    case 1: r += i;
    case 2: r += 10; break;
    case 4: if (i & 1) break; r = 40;
    case 5: r += 3;
    default: r += 1000 + i;
  }
  return r;
})

PEWTER_SHARED(uint, switch_in_loop, (uint i, uint x), {
  uint state = x & 3;
  uint sum = 0;
  for (uint k = 0; k < 12; ++k) {
    switch (state) {
      case 0: sum += i; state = 2; continue;
      case 1: sum ^= k; state = (x >> k) & 3; break;
      case 2: if (sum & 4) { state = 3; break; } state = 1; break;
      default: if ((x >> k) & 8) return sum + 5000; state = 0;
    }
    sum = sum * 5 + state;
  }
  return sum;
})

PEWTER_SHARED(uint, do_while, (uint i, uint x), {
  uint steps = 0;
  uint n = (x & 1023) + 1;
  do {
    n = (n & 1) != 0 ? n * 3 + 1 : n / 2;
    ++steps;
  } while (n != 1 && steps < 60 + (i & 3));
  return steps * 65536 + (n & 65535);
})

PEWTER_SHARED(uint, short_circuits, (uint i, uint x), {
  uint count = 0;
  if ((x & 1) != 0 && (i & 2) != 0 && ++count > 0) count += 10;
  if ((x & 4) != 0 || (++count, (i & 1) != 0) || (x & 8) != 0) count += 100;
  return (x & 16) != 0 ? (i & 1 ? count : count * 2) : (x & 32 ? count + 1 : count + 2);
})

PEWTER_SHARED(uint, uniform_within_divergent, (uint i, uint x), {
  uint sum = 0;
  if ((x & 3) != 0) {
    for (uint k = 0; k < 9; ++k) {
      sum += x >> k;
      if (k == 5) sum *= 3;
    }
  } else {
    for (uint k = 0; k < 4; ++k) sum -= k * i;
  }
  return sum;
})

PEWTER_SHARED(uint, loop_carried_swap, (uint i, uint x), {
  uint a = i + 1;
  uint b = (x & 1023) + 1;
  while (b != 0) {
    uint rest = a % b;
    a = b;
    b = rest;
  }
  return a;
})

PEWTER_SHARED(uint, values_after_loop, (uint i, uint x), {
  uint k = 0;
  uint last = 0;
  for (; k < 30; ++k) {
    last = x >> (k & 15);
    if ((last & 63) == (i & 63)) break;
  }
  return k * 1000003 + last;
})

PEWTER_SHARED(uint, division_in_a_branch, (uint i, uint x), {
  uint d = x & 3;
  uint r = 1;
  if (d != 0) r = i / d + (i % d) * 100;
  int e = int(x & 15) - 8;
  if (e != 0) r += uint(int(i) / e) + uint(int(i) % e);
  return r;
})

PEWTER_SHARED(uint, continue_in_do_while, (uint i, uint x), {
  uint k = 0;
  uint sum = 0;
  do {
    ++k;
    if ((x >> k & 1) != 0) continue;
    sum += k * k;
    if (sum > 200 + i) break;
  } while (k < 14);
  return sum * 16 + k;
})

PEWTER_SHARED(uint, many_exits, (uint i, uint x), {
  uint k = 0;
  while (true) {
    if (k >= 40) return 1;
    if ((x >> (k & 31) & 7) == 6 && i % 5 == 1) return 100 + k;
    if (i % 5 == 2 && k * k > (x & 511)) { k += 1000; break; }
    if (i % 5 == 3) {
      ++k;
      if ((k & 3) == (x & 3)) continue;
      k += 2;
    }
    ++k;
  }
  return k;
})
// clang-format on

}  // namespace

#define PEWTER_CHECK_SHARED(name) check_shared(name##_text, #name, &(name))

TEST_CASE("lanes that return early keep their result while the others go on") {
  PEWTER_CHECK_SHARED(early_return);
  PEWTER_CHECK_SHARED(return_from_inner_loop);
}

TEST_CASE("loops run as often as each lane asks") {
  PEWTER_CHECK_SHARED(trip_counts);
  PEWTER_CHECK_SHARED(nested_loops);
  PEWTER_CHECK_SHARED(do_while);
  PEWTER_CHECK_SHARED(loop_carried_swap);
}

TEST_CASE("break and continue take the lanes that meet them and no others") {
  PEWTER_CHECK_SHARED(break_and_continue);
  PEWTER_CHECK_SHARED(break_out_of_two_loops);
  PEWTER_CHECK_SHARED(continue_in_do_while);
  PEWTER_CHECK_SHARED(many_exits);
}

TEST_CASE("a value computed in a loop is the one of the round in which the lane left") {
  PEWTER_CHECK_SHARED(values_after_loop);
}

TEST_CASE("switch sends each lane to its case, through and past the ones below") {
  PEWTER_CHECK_SHARED(switch_with_fall_through);
  PEWTER_CHECK_SHARED(switch_in_loop);
}

TEST_CASE("conditions evaluate no more operands than each lane needs") {
  PEWTER_CHECK_SHARED(short_circuits);
}

TEST_CASE("uniform loops inside divergent branches leave the other lanes alone") {
  PEWTER_CHECK_SHARED(uniform_within_divergent);
}

TEST_CASE("a lane that does not divide cannot fault by division") {
  PEWTER_CHECK_SHARED(division_in_a_branch);
}

TEST_CASE("threads past the end that return at once write nothing") {
  const test::Gpu gpu;
  const std::string source = R"(
    kernel void f(device uint* out [[buffer(0)]], constant uint& count [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      if (i >= count) return;
      out[i] = i * i;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    std::vector<uint> out(count + 64, 77);

    gpu.run(pipeline.get(), {.grid = test::size(2048), .group = test::size(256)}, out,
            static_cast<uint>(count));

    for (uint i = 0; i < out.size(); ++i) {
      REQUIRE(out[i] == (i < count ? i * i : 77));
    }
  }
}

TEST_CASE("a division by the lane's number is right where lane 0 does not divide") {
  const test::Gpu gpu;
  const std::string source = R"(
    kernel void f(device uint* out [[buffer(0)]], device const int* in [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
      int a[4] = {10, 20, in[0], 40};
      uint q = 1u;
      if (lane != 0u) q = i / lane;
      out[i] = uint(a[q & 3u]);
    })";
  // The last simdgroup is not full, so that its lanes run under a mask that is not known.
  constexpr uint kCount = 50;
  const std::vector<int> in = {30};
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = test::size(kCount), .group = test::size(kCount)}, out, in);

  constexpr uint kTable[] = {10, 20, 30, 40};
  for (uint i = 0; i < kCount; ++i) {
    const uint lane = i % 32;
    REQUIRE(out[i] == kTable[(lane != 0 ? i / lane : 1) & 3]);
  }
}

TEST_CASE("lanes that skip a division do not decide about it") {
  const Gpu gpu;

  SUBCASE("by zero, of constants") {
    std::vector<uint> out(8);

    gpu.run(kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], uint2 position [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
        const uint divisor = reverse_bits(lane);
        uint quotient = 1;
        if (divisor != 0) quotient = lane / divisor;
        out[position.x] = quotient + 10 * lane;
      })",
            "f", {.grid = size(8, 1), .group = size(8, 4)}, out);

    CHECK(out == std::vector<uint>{1, 10, 20, 30, 40, 50, 60, 70});
  }
  SUBCASE("of numbers that only they could have") {
    constexpr int kDivisor = 353688560;
    constexpr uint kCount = 4;
    std::vector<uint> out(300);

    gpu.run(kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], constant int& divisor [[buffer(1)]],
                    constant uint& count [[buffer(2)]], uint i [[thread_position_in_grid]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
        uint sum = i;
        for (uint k = 0; k < count; ++k) {
          const int dividend = int(absdiff(4, int(simdgroup) / 6 - 2));
          int quotient = 1;
          if (divisor != 0 && divisor != -1) quotient = dividend / divisor;
          sum = sum * 3 + uint(quotient);
        }
        out[i] = sum;
      })",
            "f", {.grid = size(300), .group = size(300)}, out, kDivisor, kCount);

    for (uint i = 0; i < out.size(); ++i) {
      REQUIRE(out[i] == i * 81);
    }
  }
  SUBCASE("by what is a power of two wherever it divides") {
    std::vector<uint> out(48);

    gpu.run(kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], device const uint* in [[buffer(1)]],
                    uint i [[thread_index_in_threadgroup]]) {
        const uint divisor = 4u >> (i & 31u);
        uint quotient = 1;
        if (divisor != 0) quotient = in[0] / divisor;
        out[i] = quotient;
      })",
            "f", {.grid = size(48), .group = size(48)}, out, std::vector<uint>{1000});

    for (uint i = 0; i < out.size(); ++i) {
      const uint divisor = 4U >> (i & 31U);
      REQUIRE(out[i] == (divisor != 0 ? 1000 / divisor : 1));
    }
  }
}

TEST_CASE("lanes keep what they brought along when ways meet again") {
  const Gpu gpu;

  SUBCASE("after branches that were uniform on each way") {
    constexpr uint kOther = 1000;
    const std::vector<std::uint16_t> in = {3, 40, 500};
    for (const std::uint16_t limit : {0, 4}) {
      for (const uint repeats : {0U, 1U}) {
        CAPTURE(limit);
        CAPTURE(repeats);
        std::vector<uint> out(36);

        gpu.run(kHead + R"(
          kernel void f(device uint* out [[buffer(0)]], device const ushort* in [[buffer(1)]],
                        constant ushort& limit [[buffer(2)]], constant uint& repeats [[buffer(3)]],
                        constant uint& other [[buffer(4)]],
                        uint i [[thread_position_in_grid]]) {
            ushort value = 1;
            uint way = i;
            if ((i & 3) == 1) {
              if (limit > in[0]) value = in[1];
            } else {
              for (uint k = 0; k < repeats; ++k) value = in[2];
              way = other;
            }
            out[i] = way + value;
          })",
                "f", {.grid = size(36), .group = size(64)}, out, in, limit, repeats, kOther);

        for (uint i = 0; i < out.size(); ++i) {
          const uint one_way = i + (limit > in[0] ? in[1] : 1);
          const uint other_way = kOther + (repeats > 0 ? in[2] : 1);
          REQUIRE(out[i] == ((i & 3) == 1 ? one_way : other_way));
        }
      }
    }
  }
  SUBCASE("out of a loop that the others leave at its top") {
    std::vector<uint> out(50);
    constexpr uint kLimit = 10;

    gpu.run(kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], device uint* marks [[buffer(1)]],
                    constant uint& limit [[buffer(2)]], uint i [[thread_position_in_grid]]) {
        uint way = 0;
        for (uint k = 0;; ++k) {
          if (simd_max(k) >= limit) {
            way = 7;
            break;
          }
          if (k * 3 > i) {
            marks[i] = k;
            way = 9;
            break;
          }
        }
        out[i] = way;
      })",
            "f", {.grid = size(50), .group = size(50)}, out, std::vector<uint>(50), kLimit);

    for (uint i = 0; i < out.size(); ++i) {
      REQUIRE(out[i] == (i < 3 * (kLimit - 1) ? 9 : 7));
    }
  }
  SUBCASE("out of a loop that others go round, into the one around it") {
    std::vector<uint> out(33);
    const std::vector<std::int8_t> in = {1, 5, 0, 3, 1, -1, 8, 9, 1, 7, 7};

    gpu.run(kHead + R"(
      kernel void f(device uint* out [[buffer(0)]], device const char* in [[buffer(1)]],
                    constant uint& repeats [[buffer(2)]], uint2 position [[thread_position_in_grid]],
                    uint2 size [[threads_per_grid]]) {
        const uint i = position.y * size.x + position.x;
        uint way = i + 100;
        uint round = 0;
        while (++round < 4) {
          if (in[position.y] <= 1) continue;
          for (uint k = 0; k < repeats; ++k) {
          }
          way = 1;
        }
        out[i] = way;
      })",
            "f", {.grid = size(3, 11), .group = size(3, 11)}, out, in, 3U);

    for (uint i = 0; i < out.size(); ++i) {
      REQUIRE(out[i] == (in[i / 3] <= 1 ? i + 100 : 1));
    }
  }
}

// NaN becomes the lower bound, although its sign was taken away before.
TEST_CASE("a clamped NaN takes the branch of negative numbers") {
  const Gpu gpu;
  for (const std::string type : {"float", "half"}) {
    const std::string kernel = R"(
      kernel void f(device const float* in [[buffer(0)]], device uint* out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
        T value = clamp(fabs(T(in[i])), T(-4), T(4));
        for (uint k = 0; k < 3; ++k) {
          if (signbit(value)) {
            value = fmin(T(k), T(1));
            out[i] = k + 1;
          }
        }
      })";
    const std::string source = kHead + "typedef " + type + " T;\n" + kernel;
    std::vector<float> in(100, std::numeric_limits<float>::quiet_NaN());
    for (uint i = 0; i < in.size(); i += 3) {
      in[i] = static_cast<float>(i) - 50;
    }
    std::vector<uint> out(in.size());

    gpu.run(source, "f", {.grid = size(100), .group = size(64)}, in, out);

    for (uint i = 0; i < out.size(); ++i) {
      REQUIRE_MESSAGE(out[i] == (i % 3 == 0 ? 0 : 1), type, " of thread ", i);
    }
  }
}

TEST_CASE("lanes enter a loop in its middle") {
  const Gpu gpu;
  constexpr uint kRepeats = 3;
  std::vector<uint> out(50);

  gpu.run(kHead + R"(
    kernel void f(device uint* out [[buffer(0)]], constant uint& repeats [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      uint sum = 0;
      for (uint k = 0; k < repeats; ++k) {
        uint left = i % 5 + k;
        switch (i & 1) {
          case 0:
            do {
              sum = sum * 3 + 1;
              if (sum % 7 == i % 7) break;
          case 1:
              sum += left;
            } while (left-- != 0);
        }
      }
      out[i] = sum;
    })",
          "f", {.grid = size(50), .group = size(50)}, out, kRepeats);

  for (uint i = 0; i < out.size(); ++i) {
    uint sum = 0;
    for (uint k = 0; k < kRepeats; ++k) {
      uint left = i % 5 + k;
      bool begins = (i & 1) == 0;
      do {
        if (begins) {
          sum = sum * 3 + 1;
          if (sum % 7 == i % 7) {
            break;
          }
        }
        begins = true;
        sum += left;
      } while (left-- != 0);
    }
    REQUIRE(out[i] == sum);
  }
}

}  // namespace pewter
