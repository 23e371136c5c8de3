#include <numeric>

#include "tests/compiler/spmd/shared_code.h"

// Barriers wherever Metal allows them: in loops, in uniform branches, in groups of any size.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;

std::vector<uint> group_sums(const std::vector<uint>& in, std::size_t group) {
  std::vector<uint> sums((in.size() + group - 1) / group);
  for (std::size_t i = 0; i < in.size(); ++i) {
    sums[i / group] += in[i];
  }
  return sums;
}

/// The kernel stores one number for each group.
void check_group_sums(const std::string& source) {
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(kHead + source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    for (const std::size_t group : test::awkward_groups()) {
      const auto in = test::noise(count);
      const auto wanted = group_sums(in, group);
      std::vector<uint> out(wanted.size());
      gpu.run(pipeline.get(), {.grid = size(count), .group = size(group)}, in, out);
      CHECK_MESSAGE(out == wanted, count, " threads in groups of ", group);
    }
  }
}

}  // namespace

TEST_CASE("a tree reduction adds up full and partial groups") {
  check_group_sums(R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]]) {
      threadgroup uint tile[1024];
      tile[l] = in[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint half_count = 512; half_count > 0; half_count /= 2) {
        if (l < half_count && l + half_count < n) tile[l] += tile[l + half_count];
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      if (l == 0) out[g] = tile[0];
    })");
}

TEST_CASE("a tree of a known size keeps the group's memory, whoever reads it at the end") {
  // Groups of 64 run as one program: all places of the first kernel are known, one of the second's
  // is not.
  for (const std::string place : {"0", "(in[i] & 0)"}) {
    CAPTURE(place);
    const Gpu gpu;
    const auto pipeline = gpu.pipeline(kHead + R"(
      [[max_total_threads_per_threadgroup(64)]]
      kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                    uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
        threadgroup uint tile[64];
        threadgroup ushort low[64];
        tile[l] = in[i];
        low[63 - l] = ushort(in[i]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint half_count = 32; half_count > 0; half_count /= 2) {
          if (l < half_count) tile[l] += tile[l + half_count];
          threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        out[i] = tile[)" + place + R"(] + low[l];
      })",
                                       "f");
    const auto in = test::noise(640);
    std::vector<uint> out(in.size());
    gpu.run(pipeline.get(), {.grid = size(in.size()), .group = size(64)}, in, out);

    const auto sums = group_sums(in, 64);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t mirrored = i / 64 * 64 + 63 - i % 64;
      CHECK(out[i] == sums[i / 64] + (in[mirrored] & 0xFFFF));
    }
  }
}

TEST_CASE("simdgroup sums meet in threadgroup memory") {
  check_group_sums(R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                  uint simd [[simdgroup_index_in_threadgroup]],
                  uint simds [[simdgroups_per_threadgroup]]) {
      threadgroup uint sums[32];
      uint sum = simd_sum(in[i]);
      if (lane == 0) sums[simd] = sum;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (simd == 0) {
        uint total = 0;
        for (uint k = lane; k < simds; k += 32) total += sums[k];
        total = simd_sum(total);
        if (lane == 0) out[g] = total;
      }
    })");
}

TEST_CASE("values that live across a barrier in a loop stay each thread's own") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  constant uint& rounds [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
      threadgroup uint tile[2][1024];
      uint own = in[i];
      uint history[4] = {own, 1, 2, 3};
      for (uint round = 0; round < rounds; ++round) {
        tile[round & 1][l] = own;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint next = tile[round & 1][(l + 1) % n];
        history[(own + round) & 3] += next;
        if ((next & 1) != 0) own = next * 3 + history[round & 3]; else own += round;
      }
      out[i] = own + history[0] * 3 + history[1] * 5 + history[2] * 7 + history[3] * 11;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const auto& [count, group] :
       {std::pair<std::size_t, std::size_t>{100, 48}, {1025, 1024}, {64, 64}, {33, 7}}) {
    constexpr uint kRounds = 5;
    const auto in = test::noise(count);
    std::vector<uint> out(count);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(group)}, in, out, kRounds);

    for (std::size_t start = 0; start < count; start += group) {
      const std::size_t n = std::min(group, count - start);
      std::vector<uint> own(in.begin() + start, in.begin() + start + n);
      std::vector<std::vector<uint>> history;
      for (const uint x : own) {
        history.push_back({x, 1, 2, 3});
      }
      for (uint round = 0; round < kRounds; ++round) {
        const auto before = own;
        for (std::size_t l = 0; l < n; ++l) {
          const uint next = before[(l + 1) % n];
          history[l][(own[l] + round) & 3] += next;
          own[l] = (next & 1) != 0 ? next * 3 + history[l][round & 3] : own[l] + round;
        }
      }
      for (std::size_t l = 0; l < n; ++l) {
        REQUIRE(out[start + l] == own[l] + history[l][0] * 3 + history[l][1] * 5 +
                                      history[l][2] * 7 + history[l][3] * 11);
      }
    }
  }
}

TEST_CASE("barriers stand in branches that the whole group takes") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  constant uint& mode [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                  uint n [[threads_per_threadgroup]]) {
      threadgroup uint tile[256];
      uint x = in[i];
      if ((g & 1) == 0) {
        tile[l] = x;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x = tile[n - 1 - l];
        if (mode == 3) {
          threadgroup_barrier(mem_flags::mem_threadgroup);
          tile[l] = x * 2;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          x += tile[0];
        }
      } else if (mode != 1) {
        switch (mode) {
          case 2:
            tile[(l + 1) % n] = x;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            x = tile[l];
            break;
          default: x = 5;
        }
      }
      out[i] = x;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (uint mode = 1; mode <= 3; ++mode) {
    constexpr std::size_t kCount = 1000;
    constexpr std::size_t kGroup = 96;
    const auto in = test::noise(kCount);
    std::vector<uint> out(kCount);

    gpu.run(pipeline.get(), {.grid = size(kCount), .group = size(kGroup)}, in, out, mode);

    for (std::size_t i = 0; i < kCount; ++i) {
      const std::size_t start = i / kGroup * kGroup;
      const std::size_t n = std::min(kGroup, kCount - start);
      const std::size_t l = i - start;
      uint wanted = in[i];
      if (i / kGroup % 2 == 0) {
        wanted = in[start + n - 1 - l];
        wanted += mode == 3 ? 2 * in[start + n - 1] : 0;
      } else if (mode == 2) {
        wanted = in[start + (l + n - 1) % n];
      } else if (mode == 3) {
        wanted = 5;
      }
      REQUIRE_MESSAGE(out[i] == wanted, "mode ", mode, ", thread ", i);
    }
  }
}

TEST_CASE("a bitonic sort in threadgroup memory sorts each group") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device uint* data [[buffer(0)]], threadgroup uint* tile [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
      tile[l] = data[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint k = 2; k <= n; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
          uint other = l ^ j;
          if (other > l) {
            uint a = tile[l];
            uint b = tile[other];
            if (((l & k) == 0) == (a > b)) {
              tile[l] = b;
              tile[other] = a;
            }
          }
          threadgroup_barrier(mem_flags::mem_threadgroup);
        }
      }
      data[i] = tile[l];
    })";
  for (const std::size_t group : {32, 64, 256, 1024}) {
    const std::size_t count = group * 3;
    auto data = test::noise(count);
    auto wanted = data;
    for (std::size_t start = 0; start < count; start += group) {
      std::sort(wanted.begin() + start, wanted.begin() + start + group);
    }

    gpu.run(source, "f", {.grid = size(count), .group = size(group)}, data,
            test::ThreadgroupMemory{group * sizeof(uint)});

    CHECK(data == wanted);
  }
}

TEST_CASE("a matrix is transposed through a tile, at the edges too") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  constant uint2& count [[buffer(2)]], uint2 at [[thread_position_in_grid]],
                  uint2 l [[thread_position_in_threadgroup]],
                  uint2 g [[threadgroup_position_in_grid]]) {
      threadgroup uint tile[16][17];
      if (at.x < count.x && at.y < count.y) tile[l.y][l.x] = in[at.y * count.x + at.x];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      uint2 to = g.yx * 16 + l;
      if (to.x < count.y && to.y < count.x) out[to.y * count.y + to.x] = tile[l.x][l.y];
    })";
  for (const auto& [x, y] : {std::pair{48U, 32U}, {45U, 37U}, {5U, 100U}}) {
    const auto in = test::noise(std::size_t{x} * y);
    std::vector<uint> out(in.size());
    struct {
      uint x, y;
    } const count = {x, y};

    gpu.run(source, "f",
            {.grid = size((x + 15) / 16 * 16, (y + 15) / 16 * 16), .group = size(16, 16)}, in, out,
            count);

    for (uint row = 0; row < y; ++row) {
      for (uint column = 0; column < x; ++column) {
        REQUIRE(out[std::size_t{column} * y + row] == in[std::size_t{row} * x + column]);
      }
    }
  }
}

TEST_CASE("a loop with barriers runs as often as data in memory says") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
      threadgroup uint left;
      if (l == 0) left = g + 2;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      uint rounds = 0;
      while (true) {
        uint now = left;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (now == 0) break;
        rounds += l + 1;
        if (l == 0) left = now - 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      out[i] = rounds;
    })";
  constexpr std::size_t kCount = 500;
  constexpr std::size_t kGroup = 80;
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(kGroup)}, out);

  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE(out[i] == (i / kGroup + 2) * (i % kGroup + 1));
  }
}

TEST_CASE("a simdgroup barrier orders the memory of a simdgroup") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
      threadgroup uint tile[1024];
      uint sum = 0;
      for (uint round = 0; round < 3; ++round) {
        tile[l] = in[i] + round;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        sum = sum * 5 + tile[min((l & ~31u) + ((l + 7 * round) & 31u), n - 1)];
        simdgroup_barrier(mem_flags::mem_threadgroup);
      }
      out[i] = sum;
    })";
  constexpr std::size_t kCount = 300;
  constexpr std::size_t kGroup = 120;
  const auto in = test::noise(kCount);
  std::vector<uint> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(kGroup)}, in, out);

  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t start = i / kGroup * kGroup;
    const std::size_t n = std::min(kGroup, kCount - start);
    const std::size_t l = i - start;
    uint sum = 0;
    for (std::size_t round = 0; round < 3; ++round) {
      const std::size_t other = std::min(l / 32 * 32 + (l + 7 * round) % 32, n - 1);
      sum = sum * 5 + in[start + other] + static_cast<uint>(round);
    }
    REQUIRE(out[i] == sum);
  }
}

}  // namespace pewter
