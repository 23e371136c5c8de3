#include <cstring>

#include "tests/compiler/spmd/shared_code.h"

// Each lane adds up a row of its own, which programs load as whole vectors. Numbers are small and
// whole, so that sums are exact in whatever order they are made.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::noise;
using test::size;
using test::uint;

std::vector<float> small_numbers(std::size_t count, uint seed) {
  const std::vector<uint> words = noise(count, seed);
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(words[i] % 17) - 8;
  }
  return numbers;
}

float product(const float* a, const float* b, std::size_t count) {
  double sum = 0;
  for (std::size_t j = 0; j < count; ++j) {
    sum += static_cast<double>(a[j]) * b[j];
  }
  return static_cast<float>(sum);
}

TEST_CASE("products of rows of any length add up to the same") {
  const Gpu gpu;
  for (const uint length : {7U, 8U, 15U, 16U, 17U, 24U, 31U, 32U}) {
    const std::string source =
        kHead + "constant constexpr uint kLength = " + std::to_string(length) + ";\n" + R"(
      kernel void f(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                    device const uint* at [[buffer(2)]], device float* out [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
        device const float* row = a + at[i] % 300u;
        float sum = 3;
        for (uint j = 0; j < kLength; ++j) sum += row[j] * b[i * kLength + j];
        out[i] = sum;
      })";
    const auto pipeline = gpu.pipeline(source, "f");
    const auto a = small_numbers(300 + length, 1);
    for (const std::size_t count : test::awkward_counts()) {
      const auto b = small_numbers(count * length, 2);
      const auto at = noise(count, 3);
      std::vector<float> out(count);

      gpu.run(pipeline.get(), {.grid = size(count), .group = size(64)}, a, b, at, out);

      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(out[i] == 3 + product(&a[at[i] % 300], &b[i * length], length));
      }
    }
  }
}

TEST_CASE("blocks of nibbles are multiplied in loops that threads leave one by one") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    struct Block { half scale; uchar nibbles[16]; };
    kernel void f(device const Block* blocks [[buffer(0)]], device const float* x [[buffer(1)]],
                  device const uint* at [[buffer(2)]], device float* out [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
      float sum = 0;
      for (uint k = at[i] % 7u; k < at[i] % 13u; ++k) {
        device const Block& block = blocks[(i + k) % 19u];
        device const float* own = x + ((i * 3u + k) % 11u) * 32u;
        float part = 0;
        for (uint j = 0; j < 16; ++j) {
          const uchar pair = block.nibbles[j];
          part += (int(pair & 15) - 8) * own[j] + (int(pair >> 4) - 8) * own[j + 16];
        }
        sum += float(block.scale) * part;
      }
      out[i] = sum;
    })";
  struct Block {
    std::uint16_t scale;
    std::uint8_t nibbles[16];
  };
  // 1 and 2 as half.
  constexpr std::uint16_t kScales[] = {0x3c00, 0x4000};
  std::vector<Block> blocks(19);
  const auto bytes = noise(blocks.size() * 16, 4);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    blocks[k].scale = kScales[k % 2];
    for (std::size_t j = 0; j < 16; ++j) {
      blocks[k].nibbles[j] = static_cast<std::uint8_t>(bytes[k * 16 + j]);
    }
  }
  const auto x = small_numbers(std::size_t{11} * 32, 5);
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto at = noise(count, 6);
    std::vector<float> out(count);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(100)}, blocks, x, at, out);

    for (std::size_t i = 0; i < count; ++i) {
      float wanted = 0;
      for (std::size_t k = at[i] % 7; k < at[i] % 13; ++k) {
        const Block& block = blocks[(i + k) % 19];
        const float* own = &x[(i * 3 + k) % 11 * 32];
        float part = 0;
        for (std::size_t j = 0; j < 16; ++j) {
          part += static_cast<float>((block.nibbles[j] & 15) - 8) * own[j] +
                  static_cast<float>((block.nibbles[j] >> 4) - 8) * own[j + 16];
        }
        wanted += static_cast<float>((i + k) % 19 % 2 + 1) * part;
      }
      REQUIRE(out[i] == wanted);
    }
  }
}

TEST_CASE("a row that is written between its elements' loads is read before and after") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device float* rows [[buffer(0)]], device const float* b [[buffer(1)]],
                  device float* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      device float* row = rows + i * 24u;
      float sum = 0;
      for (uint j = 0; j < 8; ++j) sum += row[j] * b[i * 16u + j];
      row[8] = sum;
      row[15] = 5;
      for (uint j = 8; j < 16; ++j) sum += row[j] * b[i * 16u + j];
      out[i] = sum;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    auto rows = small_numbers(count * 24, 7);
    const auto before = rows;
    const auto b = small_numbers(count * 16, 8);
    std::vector<float> out(count);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(32)}, rows, b, out);

    for (std::size_t i = 0; i < count; ++i) {
      std::vector<float> row(&before[i * 24], &before[i * 24] + 24);
      float wanted = product(row.data(), &b[i * 16], 8);
      row[8] = wanted;
      row[15] = 5;
      wanted += product(&row[8], &b[i * 16 + 8], 8);
      REQUIRE(out[i] == wanted);
    }
  }
}

TEST_CASE("windows that overlap, halves, signs and factors of threads add up") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* x [[buffer(0)]], device const half* weights [[buffer(1)]],
                  device const char* signs [[buffer(2)]], device float* out [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
      float window = 0;
      for (uint j = 0; j < 16; ++j) window += x[i + j] * float(weights[j]);
      float own = 0;
      const float factor = x[i];
      for (uint j = 0; j < 16; ++j) own += factor * (float(weights[i * 16u + j]) - float(signs[i * 16u + j]));
      out[i] = window - own;
    })";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : test::awkward_counts()) {
    const auto x = small_numbers(count + 16, 9);
    // 1, 2, 3 and 4 as half.
    constexpr std::uint16_t kHalves[] = {0x3c00, 0x4000, 0x4200, 0x4400};
    const auto words = noise(count * 16, 10);
    std::vector<std::uint16_t> weights(words.size());
    std::vector<std::int8_t> signs(words.size());
    for (std::size_t k = 0; k < words.size(); ++k) {
      weights[k] = kHalves[words[k] % 4];
      signs[k] = static_cast<std::int8_t>(words[k] % 11) - 5;
    }
    std::vector<float> out(count);

    gpu.run(pipeline.get(), {.grid = size(count), .group = size(64)}, x, weights, signs, out);

    for (std::size_t i = 0; i < count; ++i) {
      float wanted = 0;
      for (std::size_t j = 0; j < 16; ++j) {
        wanted += x[i + j] * static_cast<float>(words[j] % 4 + 1);
        wanted -= x[i] * static_cast<float>(static_cast<int>(words[i * 16 + j] % 4 + 1) -
                                            signs[i * 16 + j]);
      }
      REQUIRE(out[i] == wanted);
    }
  }
}

TEST_CASE("rows of threadgroup memory are added up as other threads have written them") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    [[max_total_threads_per_threadgroup(64)]]
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint own [[thread_position_in_threadgroup]]) {
      threadgroup float rows[64 * 20];
      for (uint j = 0; j < 20; ++j) rows[j * 64u + own] = in[i * 20u + j];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      float sum = 0;
      for (uint j = 0; j < 16; ++j) sum += rows[own * 20u + j] * rows[(63u - own) * 20u + j + 4u];
      out[i] = sum;
    })";
  constexpr std::size_t kCount = 192;
  const auto in = small_numbers(kCount * 20, 11);
  std::vector<float> out(kCount);

  gpu.run(source, "f", {.grid = size(kCount), .group = size(64)}, in, out);

  for (std::size_t group = 0; group < kCount; group += 64) {
    std::vector<float> rows(std::size_t{64} * 20);
    for (std::size_t own = 0; own < 64; ++own) {
      for (std::size_t j = 0; j < 20; ++j) {
        rows[j * 64 + own] = in[(group + own) * 20 + j];
      }
    }
    for (std::size_t own = 0; own < 64; ++own) {
      REQUIRE(out[group + own] == product(&rows[own * 20], &rows[(63 - own) * 20 + 4], 16));
    }
  }
}

}  // namespace
}  // namespace pewter
