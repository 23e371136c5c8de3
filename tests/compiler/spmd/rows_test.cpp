#include <cstring>

#include "tests/compiler/spmd/shared_code.h"

// Each lane reads a row of its own: bytes that are loaded as words, words that are loaded four at a
// time, in loops that are unrolled for it, with and without conditions.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::noise;
using test::size;
using test::uchar;
using test::uint;

std::vector<uchar> noisy_bytes(std::size_t count) {
  const std::vector<uint> words = noise(count / 4 + 1);
  std::vector<uchar> bytes(count);
  std::memcpy(bytes.data(), words.data(), count);
  return bytes;
}

TEST_CASE("blocks of odd sizes are taken apart byte by byte") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    struct Block { ushort scale; uchar bytes[11]; char last; };
    kernel void f(device const Block* blocks [[buffer(0)]], device uint* out [[buffer(1)]],
                  device const uint* at [[buffer(2)]], constant uint& rows [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
      uint sum = 0;
      for (uint row = at[i] % rows; row < rows; row += 5) {
        device const Block& block = blocks[row];
        uint part = block.scale;
        for (uint j = 0; j < 11; ++j) part = part * 3u + block.bytes[j];
        if ((part & 1u) != 0u) part += uint(block.last) * block.bytes[10];
        sum += part;
      }
      out[i] = sum;
    })";
  struct Block {
    std::uint16_t scale;
    uchar bytes[11];
    std::int8_t last;
  };
  static_assert(sizeof(Block) == 14);
  constexpr uint kRows = 19;
  std::vector<Block> blocks(kRows);
  const auto content = noisy_bytes(sizeof(Block) * kRows);
  std::memcpy(blocks.data(), content.data(), content.size());
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto at = noise(count, 5);
    std::vector<uint> out(count);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(64)}, blocks, out, at, kRows);

    for (std::size_t i = 0; i < count; ++i) {
      uint wanted = 0;
      for (uint row = at[i] % kRows; row < kRows; row += 5) {
        const Block& block = blocks[row];
        uint part = block.scale;
        for (const uchar byte : block.bytes) {
          part = part * 3 + byte;
        }
        if ((part & 1) != 0) {
          part += static_cast<uint>(static_cast<int>(block.last)) * block.bytes[10];
        }
        wanted += part;
      }
      REQUIRE(out[i] == wanted);
    }
  }
}

TEST_CASE("rows of words are read whole, wherever they begin") {
  const Gpu gpu;
  // Offsets within a row are neither sorted nor all used, and rows overlap.
  const std::string source = kHead + R"(
    kernel void f(device const uint* in [[buffer(0)]], device const uint* at [[buffer(1)]],
                  device uint4* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      device const uint* row = in + at[i] % 400u;
      uint4 sum = uint4(row[3], row[1], row[0], row[2]) * 5u;
      sum += uint4(row[7], row[9], row[4], row[6]);
      if ((at[i] & 2u) != 0u) {
        sum += *(device const packed_uint4*)(row + 20);
        for (uint j = 8; j < 20; ++j) sum.x = sum.x * 3u + row[j];
      }
      out[i] = sum;
    })";
  const auto in = noise(430);
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto at = noise(count, 9);
    std::vector<uint> out(count * 4);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(100)}, in, at, out);

    for (std::size_t i = 0; i < count; ++i) {
      const uint* row = in.data() + at[i] % 400;
      uint wanted[4] = {row[3] * 5 + row[7], row[1] * 5 + row[9], row[0] * 5 + row[4],
                        row[2] * 5 + row[6]};
      if ((at[i] & 2) != 0) {
        for (std::size_t j = 0; j < 4; ++j) {
          wanted[j] += row[20 + j];
        }
        for (uint j = 8; j < 20; ++j) {
          wanted[0] = wanted[0] * 3 + row[j];
        }
      }
      for (std::size_t j = 0; j < 4; ++j) {
        REQUIRE(out[i * 4 + j] == wanted[j]);
      }
    }
  }
}

TEST_CASE("rows a fixed way apart end where memory does") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      float sum = 0;
      for (uint j = 0; j < 13; ++j) sum += in[i * 13u + j] * float(j + 1u);
      out[i] = sum;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    std::vector<float> in(count * 13);
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<float>(i % 101);
    }
    std::vector<float> out(count);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(32)}, in, out);

    for (std::size_t i = 0; i < count; ++i) {
      float wanted = 0;
      for (std::size_t j = 0; j < 13; ++j) {
        wanted += in[i * 13 + j] * static_cast<float>(j + 1);
      }
      REQUIRE(out[i] == wanted);
    }
  }
}

TEST_CASE("what one lane stores before a barrier another loads after it, in one stretch of code") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device float* data [[buffer(0)]], device float* out [[buffer(1)]],
                  uint t [[thread_position_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]]) {
      device float* own = data + group * 128u;
      const float x = exp2(own[t] * 0.125f);
      own[t] = x;
      threadgroup_barrier(mem_flags::mem_device);
      const float y = own[127u - t] + x;
      threadgroup_barrier(mem_flags::mem_device);
      own[t] = y;
      simdgroup_barrier(mem_flags::mem_device);
      out[group * 128u + t] = own[t ^ 5u];
    })";
  constexpr std::size_t kGroups = 3;
  std::vector<float> data(128 * kGroups);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i % 7 * 8);
  }
  const auto before = data;
  std::vector<float> out(data.size());

  gpu.run(source, "f", {.grid = size(data.size()), .group = size(128)}, data, out);

  const auto power = [&](std::size_t group, std::size_t t) {
    return static_cast<float>(1 << (static_cast<int>(before[group * 128 + t]) / 8));
  };
  for (std::size_t group = 0; group < kGroups; ++group) {
    for (std::size_t t = 0; t < 128; ++t) {
      REQUIRE(out[group * 128 + t] == power(group, 127 - (t ^ 5)) + power(group, t ^ 5));
    }
  }
}

}  // namespace
}  // namespace pewter
