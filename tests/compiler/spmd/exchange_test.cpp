#include "tests/compiler/spmd/shared_code.h"

// Lanes that read and write at their partners' places, `x[i ^ distance]`: whole chunks when the
// running kernel finds that they are chunks, lane by lane otherwise.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::noise;
using test::size;
using test::uint;
using test::ulong;
using test::ushort;

/// Distances within a chunk, of chunks, across them, and beyond the data.
const std::vector<uint>& distances() {
  static const std::vector<uint> list = {0,  1,  2,  3,   4,    7,    8,   16,
                                         40, 64, 96, 256, 1000, 1024, 4096};
  return list;
}

template <typename T>
void check_swaps(const std::string& type) {
  const Gpu gpu;
  const std::string source = kHead + "using T = " + type + ";\n" + R"(
    kernel void f(device T* values [[buffer(0)]], constant uint& n [[buffer(1)]],
                  constant uint& distance [[buffer(2)]], constant uint& first [[buffer(3)]],
                  uint thread_index [[thread_position_in_grid]]) {
      const uint i = thread_index + first;
      const uint partner = i ^ distance;
      if (partner > i && partner < n) {
        const T a = values[i];
        const T b = values[partner];
        if (a > b) {
          values[i] = b;
          values[partner] = a;
        }
      }
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const uint n : {1U, 31U, 257U, 1025U}) {
    for (const uint first : {0U, 3U, 8U}) {
      for (const uint distance : distances()) {
        std::vector<T> values;
        for (const uint value : noise(n, distance + 1)) {
          values.push_back(static_cast<T>(value));
        }
        std::vector<T> expected = values;
        for (uint i = first; i < n; ++i) {
          const uint partner = i ^ distance;
          if (partner > i && partner < n && expected[i] > expected[partner]) {
            std::swap(expected[i], expected[partner]);
          }
        }
        const uint group = distance % 3 == 0 ? 100 : 256;
        gpu.run(pipeline.get(), {.grid = size(n > first ? n - first : 1), .group = size(group)},
                values, n, distance, first);
        CHECK_MESSAGE(values == expected, type, ", ", n, " values from ", first, ", distance ",
                      distance, ", groups of ", group);
      }
    }
  }
}

}  // namespace

TEST_CASE("partners swap words") {
  check_swaps<uint>("uint");
  check_swaps<float>("float");
}

TEST_CASE("partners swap values that are no words") {
  check_swaps<ushort>("ushort");
  check_swaps<ulong>("ulong");
}

TEST_CASE("partners read each other's threadgroup memory") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                  constant uint& distance [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint local [[thread_index_in_threadgroup]]) {
      threadgroup uint tile[256];
      tile[local] = in[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint there = tile[local ^ distance];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      tile[local ^ distance] = there * 3 + local;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[i] = tile[local] ^ there;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  constexpr uint kCount = 1024;
  const std::vector<uint> in = noise(kCount);
  for (const uint distance : {1U, 5U, 8U, 32U, 100U, 128U}) {
    std::vector<uint> out(kCount);

    gpu.run(pipeline.get(), {.grid = size(kCount), .group = size(256)}, in, out, distance);

    for (uint i = 0; i < kCount; ++i) {
      const uint wanted = (in[i] * 3 + (i % 256 ^ distance)) ^ in[i ^ distance];
      REQUIRE_MESSAGE(out[i] == wanted, "thread ", i, ", distance ", distance);
    }
  }
}

}  // namespace pewter
