#include <numeric>

#include "tests/compiler/spmd/shared_code.h"

// Atomics of lanes that run together: each active lane counts once, whatever they share.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;
using test::ulong;

}  // namespace

TEST_CASE("a histogram counts every thread, with and without a condition") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device atomic_uint* bins [[buffer(1)]],
                  device atomic_uint* odd [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      atomic_fetch_add_explicit(&bins[in[i] & 15u], 1u, memory_order_relaxed);
      if ((in[i] & 16u) != 0u) atomic_fetch_add_explicit(&odd[0], in[i], memory_order_relaxed);
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto in = test::noise(count);
    std::vector<uint> bins(16);
    std::vector<uint> odd(1);
    std::vector<uint> wanted(16);
    uint wanted_odd = 0;
    for (const uint x : in) {
      ++wanted[x & 15];
      wanted_odd += (x & 16) != 0 ? x : 0;
    }

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(100)}, in, bins, odd);

    CHECK(bins == wanted);
    CHECK(odd[0] == wanted_odd);
  }
}

TEST_CASE("every operation combines all active lanes at one address") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device atomic_uint* u [[buffer(1)]],
                  device atomic_int* s [[buffer(2)]], device atomic_float* g [[buffer(3)]],
                  device atomic_ulong* w [[buffer(4)]], uint i [[thread_position_in_grid]]) {
      uint x = in[i];
      if (x % 3u == 0u) return;
      atomic_fetch_add_explicit(&u[0], x, memory_order_relaxed);
      atomic_fetch_sub_explicit(&u[1], x, memory_order_relaxed);
      atomic_fetch_and_explicit(&u[2], x | 0xffu, memory_order_relaxed);
      atomic_fetch_or_explicit(&u[3], x & 0xffff00u, memory_order_relaxed);
      atomic_fetch_xor_explicit(&u[4], x, memory_order_relaxed);
      atomic_fetch_min_explicit(&u[5], x, memory_order_relaxed);
      atomic_fetch_max_explicit(&u[6], x, memory_order_relaxed);
      atomic_fetch_min_explicit(&s[0], int(x), memory_order_relaxed);
      atomic_fetch_max_explicit(&s[1], int(x), memory_order_relaxed);
      atomic_fetch_add_explicit(&s[2], int(x), memory_order_relaxed);
      atomic_fetch_add_explicit(&g[0], float(x & 7u), memory_order_relaxed);
      atomic_fetch_sub_explicit(&g[1], float(x & 3u), memory_order_relaxed);
      atomic_min_explicit(&w[0], ulong(x) << 13, memory_order_relaxed);
      atomic_max_explicit(&w[1], ulong(x) << 13, memory_order_relaxed);
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto in = test::noise(count);
    std::vector<uint> u = {1, 2, ~0U, 4, 5, ~0U, 0};
    std::vector<std::int32_t> s = {1000, -1000, 3};
    std::vector<float> g = {0.5F, 0};
    std::vector<ulong> w = {~0UL, 0};
    auto wanted_u = u;
    auto wanted_s = s;
    auto wanted_g = g;
    auto wanted_w = w;
    for (const uint x : in) {
      if (x % 3 == 0) {
        continue;
      }
      wanted_u = {wanted_u[0] + x,          wanted_u[1] - x,
                  wanted_u[2] & (x | 0xff), wanted_u[3] | (x & 0xffff00),
                  wanted_u[4] ^ x,          std::min(wanted_u[5], x),
                  std::max(wanted_u[6], x)};
      const auto y = static_cast<std::int32_t>(x);
      wanted_s = {std::min(wanted_s[0], y), std::max(wanted_s[1], y),
                  static_cast<std::int32_t>(static_cast<uint>(wanted_s[2]) + x)};
      wanted_g = {wanted_g[0] + static_cast<float>(x & 7), wanted_g[1] - static_cast<float>(x & 3)};
      wanted_w = {std::min(wanted_w[0], ulong{x} << 13), std::max(wanted_w[1], ulong{x} << 13)};
    }

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(64)}, in, u, s, g, w);

    CHECK(u == wanted_u);
    CHECK(s == wanted_s);
    CHECK(g == wanted_g);
    CHECK(w == wanted_w);
  }
}

TEST_CASE("lanes that draw from one counter get different numbers") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device atomic_uint* next [[buffer(1)]],
                  device uint* seen [[buffer(2)]], device uint* packed [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
      for (uint round = 0; round < (in[i] & 3u); ++round) {
        seen[atomic_fetch_add_explicit(&next[0], 1u, memory_order_relaxed)] += 1u;
      }
      if ((in[i] & 8u) != 0u) {
        packed[atomic_fetch_add_explicit(&next[1], 1u, memory_order_relaxed)] = i;
      }
    })";
  constexpr std::size_t kCount = 1025;
  const auto in = test::noise(kCount);
  std::vector<uint> next(2);
  std::vector<uint> seen(4 * kCount);
  std::vector<uint> packed(kCount, ~0U);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(128)}, in, next, seen, packed);

  uint draws = 0;
  std::vector<uint> kept;
  for (uint i = 0; i < kCount; ++i) {
    draws += in[i] & 3;
    if ((in[i] & 8) != 0) {
      kept.push_back(i);
    }
  }
  CHECK(next == std::vector<uint>{draws, static_cast<uint>(kept.size())});
  CHECK(std::count(seen.begin(), seen.end(), 1U) == draws);
  packed.resize(kept.size());
  std::sort(packed.begin(), packed.end());
  CHECK(packed == kept);
}

TEST_CASE("a compare-exchange loop ends for every lane") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device atomic_uint* cells [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      device atomic_uint* cell = &cells[in[i] & 3u];
      uint found = atomic_load_explicit(cell, memory_order_relaxed);
      while (!atomic_compare_exchange_weak_explicit(cell, &found, found * 2u + 1u,
                                                    memory_order_relaxed, memory_order_relaxed)) {
      }
    })";
  constexpr std::size_t kCount = 77;
  auto in = test::noise(kCount);
  std::vector<uint> cells(4);
  std::vector<uint> wanted(4);
  for (const uint x : in) {
    wanted[x & 3] = wanted[x & 3] * 2 + 1;
  }

  gpu.run(source, "f", {.grid = size(kCount), .group = size(64)}, in, cells);

  CHECK(cells == wanted);
}

TEST_CASE("a thread's own atomic gives back what it put there") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device atomic_uint* cells [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      uint old = atomic_exchange_explicit(&cells[i], i * 3u, memory_order_relaxed);
      if (i % 5u == 1u) old += atomic_fetch_add_explicit(&cells[i], 7u, memory_order_relaxed);
      uint expected = i * 3u;
      bool same = atomic_compare_exchange_weak_explicit(&cells[i], &expected, 1u,
                                                        memory_order_relaxed, memory_order_relaxed);
      out[i] = old * 2u + uint(same) + expected;
    })";
  constexpr std::size_t kCount = 257;
  std::vector<uint> cells(kCount);
  std::iota(cells.begin(), cells.end(), 100U);
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(32)}, cells, out);

  for (uint i = 0; i < kCount; ++i) {
    const bool bumped = i % 5 == 1;
    const uint old = i + 100 + (bumped ? i * 3 : 0);
    REQUIRE(out[i] == old * 2 + (bumped ? 0 : 1) + i * 3 + (bumped ? 7 : 0));
    REQUIRE(cells[i] == (bumped ? i * 3 + 7 : 1));
  }
}

TEST_CASE("atomics in threadgroup memory count a group's lanes, partial groups included") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint g [[threadgroup_position_in_grid]]) {
      threadgroup atomic_uint bins[4];
      if (l < 4u) atomic_store_explicit(&bins[l], 0u, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (in[i] % 5u != 0u)
        atomic_fetch_add_explicit(&bins[in[i] & 3u], in[i] & 0xffu, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (l < 4u) out[g * 4u + l] = atomic_load_explicit(&bins[l], memory_order_relaxed);
    })";
  constexpr std::size_t kCount = 1001;
  constexpr std::size_t kGroup = 96;
  const auto in = test::noise(kCount);
  std::vector<uint> out((kCount + kGroup - 1) / kGroup * 4);
  std::vector<uint> wanted(out.size());
  for (std::size_t i = 0; i < kCount; ++i) {
    wanted[i / kGroup * 4 + (in[i] & 3)] += in[i] % 5 != 0 ? in[i] & 0xff : 0;
  }

  gpu.run(source, "f", {.grid = size(kCount), .group = size(kGroup)}, in, out);

  CHECK(out == wanted);
}

TEST_CASE("lanes that update one place until nobody came between all succeed") {
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device atomic_uint* total [[buffer(1)]],
                  device uint* seen [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      uint old = atomic_load_explicit(&total[0], memory_order_relaxed);
      uint tries = 1;
      while (!atomic_compare_exchange_weak_explicit(&total[0], &old, old + (in[i] & 7u) + 1u,
                                                    memory_order_relaxed, memory_order_relaxed)) {
        ++tries;
      }
      seen[i] = old;
      // What was seen first is used here as well.
      const uint first = atomic_load_explicit(&total[1], memory_order_relaxed);
      uint high = first;
      while (high < in[i] && !atomic_compare_exchange_weak_explicit(
                                 &total[1], &high, in[i], memory_order_relaxed, memory_order_relaxed)) {
      }
      seen[i] |= first > in[i] && tries == 0u ? 1u << 31 : 0u;
    })",
                                     "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto in = test::noise(count);
    std::vector<uint> total(2);
    std::vector<uint> seen(count, ~0U);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(100)}, in, total, seen);

    uint wanted = 0;
    for (const uint x : in) {
      wanted += (x & 7) + 1;
    }
    CHECK(total[0] == wanted);
    CHECK(total[1] == *std::max_element(in.begin(), in.end()));
    // Each thread has seen a value of its own.
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    CHECK(seen.front() == 0);
  }
}

TEST_CASE("what the last exchange of a loop found is there behind the loop") {
  const std::string source = kHead + R"(
    kernel void f(device atomic_uint* words [[buffer(0)]], device const uint* rounds [[buffer(1)]],
                  device uint* found [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      uint expected, round = 0;
      bool is_exchanged;
      do {
        expected = round;
        is_exchanged = atomic_compare_exchange_weak_explicit(
            words + i, &expected, round + 1, memory_order_relaxed, memory_order_relaxed);
      } while (++round < rounds[0]);
      found[i] = expected + (is_exchanged ? 100 : 0);
    })";
  CHECK(test::vectorised(source)->explanation.fallback.empty());
  const Gpu gpu;
  std::vector<uint> words(100);
  // From then on the word is not what its thread expects.
  words[3] = 7;
  std::vector<uint> found(100);

  gpu.run(source, "f", {.grid = size(100), .group = size(64)}, words, std::vector<uint>{5}, found);

  for (uint i = 0; i < 100; ++i) {
    CHECK(found[i] == (i == 3 ? 7 : 104));
  }
}

}  // namespace pewter
