#include <algorithm>
#include <functional>

#include "tests/compiler/spmd/shared_code.h"

// simdgroup_matrix with several simdgroups to a group, and products in loops.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;

constexpr std::size_t kRows = 32;
constexpr std::size_t kInner = 40;
constexpr std::size_t kColumns = 48;

/// Whole numbers so small that every product and sum is exact, in half too.
std::vector<float> whole_numbers(std::size_t count, uint seed) {
  std::vector<float> values;
  for (const uint x : test::noise(count, seed)) {
    values.push_back(static_cast<float>(x % 7) - 3);
  }
  return values;
}

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(kRows * kColumns);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < kInner; ++k) {
        sum += a[row * kInner + k] * b[k * kColumns + column];
      }
      c[row * kColumns + column] = static_cast<float>(sum);
    }
  }
  return c;
}

/// a * b for 8x8 matrices, whose rows are 8 elements apart.
std::vector<float> small_product(const float* a, const float* b) {
  std::vector<float> c(64);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t k = 0; k < 8; ++k) {
      c[i] += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
    }
  }
  return c;
}

/// One simdgroup to each 8x8 tile of the result; `type` is that of the factors.
std::string gemm(const std::string& type) {
  return kHead + "typedef " + type + " T;\n" + R"(
    kernel void f(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                  device float* c [[buffer(2)]], uint2 g [[threadgroup_position_in_grid]],
                  uint simd [[simdgroup_index_in_threadgroup]],
                  uint l [[thread_index_in_threadgroup]], uint count [[threads_per_threadgroup]]) {
      threadgroup T ta[32 * 8];
      threadgroup T tb[8 * 48];
      simdgroup_matrix<float, 8, 8> sum[3];
      for (uint k = 0; k < 3; ++k) sum[k] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      for (uint k = 0; k < 40; k += 8) {
        for (uint e = l; e < 32 * 8; e += count) ta[e] = T(a[(e / 8) * 40 + k + e % 8]);
        for (uint e = l; e < 8 * 48; e += count) tb[e] = T(b[(k + e / 48) * 48 + e % 48]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_matrix<T, 8, 8> ma, mb;
        simdgroup_load(ma, ta + (simd / 2) * 64, 8);
        for (uint j = 0; j < 3; ++j) {
          simdgroup_load(mb, tb + ((simd % 2) * 3 + j) * 8, 48);
          simdgroup_multiply_accumulate(sum[j], ma, mb, sum[j]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      for (uint j = 0; j < 3; ++j)
        simdgroup_store(sum[j], c + (simd / 2) * 8 * 48 + ((simd % 2) * 3 + j) * 8, 48);
    })";
}

}  // namespace

TEST_CASE("a product tiled over the simdgroups of a group is the product") {
  const Gpu gpu;
  const auto a = whole_numbers(kRows * kInner, 1);
  const auto b = whole_numbers(kInner * kColumns, 2);
  for (const char* type : {"float", "half", "bfloat"}) {
    std::vector<float> c(kRows * kColumns);

    gpu.run(gemm(type), "f", {.grid = size(256), .group = size(256)}, a, b, c);

    CHECK_MESSAGE(c == product(a, b), std::string(type));
  }
}

TEST_CASE("each thread holds two neighbours of a row, and can change them") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  device float2* held [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint g [[threadgroup_position_in_grid]],
                  uint simd [[simdgroup_index_in_threadgroup]]) {
      uint base = (g * 2 + simd) * 64;
      simdgroup_matrix<float, 8, 8> m;
      simdgroup_load(m, in + base, 8, ulong2(0, 0), true);
      held[i] = m.thread_elements();
      m.thread_elements()[0] *= 2;
      m.thread_elements()[1] += 1;
      simdgroup_store(m, out + base, 8);
    })";
  constexpr std::size_t kThreads = 192;
  std::vector<float> in(kThreads * 2);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(i);
  }
  std::vector<float> out(in.size());
  std::vector<float> held(in.size());

  gpu.run(source, "f", {.grid = size(kThreads), .group = size(64)}, in, out, held);

  for (std::size_t i = 0; i < kThreads; ++i) {
    const std::size_t lane = i % 32;
    const std::size_t quad = lane / 4;
    const std::size_t row = (quad & 4) + lane / 2 % 4;
    const std::size_t column = (quad & 2) * 2 + lane % 2 * 2;
    const std::size_t base = i / 32 * 64;
    const float first = in[base + column * 8 + row];
    const float second = in[base + (column + 1) * 8 + row];
    REQUIRE(held[i * 2] == first);
    REQUIRE(held[i * 2 + 1] == second);
    REQUIRE(out[base + row * 8 + column] == first * 2);
    REQUIRE(out[base + row * 8 + column + 1] == second + 1);
  }
}

TEST_CASE("powers of a diagonal matrix stay diagonal") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device float* out [[buffer(0)]], constant uint& rounds [[buffer(1)]]) {
      simdgroup_float8x8 power = make_diagonal_simdgroup_matrix<float, 8>(1.0f);
      simdgroup_float8x8 twice(2.0f);
      for (uint k = 0; k < rounds; ++k) simdgroup_multiply(power, power, twice);
      simdgroup_store(power, out, 8);
    })";
  std::vector<float> out(64);

  gpu.run(source, "f", {.grid = size(32), .group = size(32)}, out, uint{6});

  for (std::size_t i = 0; i < 64; ++i) {
    REQUIRE(out[i] == (i % 9 == 0 ? 64.0F : 0.0F));
  }
}

// Sums go through two loops, barriers, operations on their elements and a factor that is
// overwritten before it is used.
TEST_CASE("fragments are kept over loops and changed element by element") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* a [[buffer(0)]], device const half* b [[buffer(1)]],
                  device float* c [[buffer(2)]], constant float& scale [[buffer(3)]],
                  threadgroup float* tile [[threadgroup(0)]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint t [[thread_index_in_threadgroup]]) {
      const uint row = simdgroup * 16;
      simdgroup_float8x8 sums[2][3];
      for (uint i = 0; i < 2; ++i) {
        for (uint j = 0; j < 3; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
      }
      for (uint k = 0; k < 40; k += 8) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = t; i < 32 * 8; i += 64) tile[i] = a[i / 8 * 40 + k + i % 8];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_float8x8 fragments[2];
        for (uint i = 0; i < 2; ++i) simdgroup_load(fragments[i], tile + (row + 8 * i) * 8, 8);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        tile[t] = -1.0f;
        for (uint j = 0; j < 3; ++j) {
          simdgroup_half8x8 other;
          simdgroup_load(other, b + k * 48 + j * 16, 48);
          for (uint i = 0; i < 2; ++i) {
            simdgroup_multiply_accumulate(sums[i][j], fragments[i], other, sums[i][j]);
          }
        }
        for (uint i = 0; i < 2; ++i) {
          for (uint j = 0; j < 3; ++j) sums[i][j].thread_elements() *= scale;
        }
      }
      for (uint i = 0; i < 2; ++i) {
        for (uint j = 0; j < 3; ++j) {
          if (j == 1) sums[i][j].thread_elements()[0] += float(lane);
          simdgroup_store(sums[i][j], c + (row + 8 * i) * 24 + j * 8, 24);
        }
      }
    })";
  const auto a = whole_numbers(kRows * kInner, 3);
  const auto b = whole_numbers(kInner * kColumns, 4);
  std::vector<_Float16> halves(b.begin(), b.end());
  std::vector<float> c(kRows * 24);
  constexpr float kScale = 0.5F;

  gpu.run(source, "f", {.grid = size(64), .group = size(64)}, a, halves, c, kScale,
          test::ThreadgroupMemory{32 * 8 * sizeof(float)});

  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < 24; ++column) {
      float wanted = 1;
      for (std::size_t k = 0; k < kInner; k += 8) {
        for (std::size_t i = k; i < k + 8; ++i) {
          wanted += a[row * kInner + i] * b[i * kColumns + column / 8 * 16 + column % 8];
        }
        wanted *= kScale;
      }
      if (column / 8 == 1 && column % 2 == 0) {
        const std::size_t r = row % 8;
        const std::size_t lane = r / 4 * 16 + column % 8 / 4 * 8 + r % 4 * 2 + column % 4 / 2;
        wanted += static_cast<float>(lane);
      }
      REQUIRE(c[row * 24 + column] == wanted);
    }
  }
}

TEST_CASE("an element that is chosen while the kernel runs is one of the product") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  constant uint& which [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      simdgroup_float8x8 a, b, c;
      simdgroup_load(a, in, 8);
      simdgroup_load(b, in + 64, 8);
      simdgroup_multiply(c, a, b);
      simdgroup_multiply_accumulate(c, c, b, a);
      out[i] = c.thread_elements()[which & 1];
    })";
  const auto in = whole_numbers(128, 5);
  const auto once = small_product(in.data(), &in[64]);
  auto wanted = small_product(once.data(), &in[64]);
  for (std::size_t i = 0; i < 64; ++i) {
    wanted[i] += in[i];
  }
  for (const uint which : {0U, 1U}) {
    std::vector<float> out(64);

    gpu.run(source, "f", {.grid = size(64), .group = size(64)}, in, out, which);

    for (uint i = 0; i < 64; ++i) {
      const uint lane = i % 32;
      const uint quad = lane / 4;
      const uint row = (quad & 4) + lane / 2 % 4;
      const uint column = (quad & 2) * 2 + lane % 2 * 2 + which;
      REQUIRE(out[i] == wanted[row * 8 + column]);
    }
  }
}

TEST_CASE("products with a factor in common are computed each for itself") {
  const Gpu gpu;
  // Some follow each other at once, one needs the result of the one before, one is stored between.
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]]) {
      simdgroup_float8x8 a, b, c, d, first, second, third, fourth;
      simdgroup_load(a, in, 8);
      simdgroup_load(b, in + 64, 8);
      simdgroup_load(c, in + 128, 8);
      simdgroup_multiply(first, a, b);
      simdgroup_load(d, in + 192, 8);
      simdgroup_multiply_accumulate(second, a, c, d);
      simdgroup_multiply_accumulate(third, a, d, second);
      simdgroup_store(third, out + 128, 8);
      simdgroup_load(d, out + 128, 8);
      simdgroup_multiply_accumulate(fourth, a, d, third);
      simdgroup_multiply_accumulate(first, a, c, first);
      simdgroup_store(first, out, 8);
      simdgroup_store(second, out + 64, 8);
      simdgroup_store(fourth, out + 192, 8);
    })";
  const auto in = whole_numbers(256, 6);
  std::vector<float> out(256);

  gpu.run(source, "f", {.grid = size(32), .group = size(32)}, in, out);

  const auto sum = [](std::vector<float> x, const std::vector<float>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += y[i];
    }
    return x;
  };
  const float* a = in.data();
  const std::vector<float> d(in.begin() + 192, in.end());
  const auto second = sum(small_product(a, &in[128]), d);
  const auto third = sum(small_product(a, d.data()), second);
  const std::vector<std::vector<float>> wanted = {
      sum(small_product(a, &in[64]), small_product(a, &in[128])), second, third,
      sum(small_product(a, third.data()), third)};
  for (std::size_t i = 0; i < 256; ++i) {
    REQUIRE(out[i] == wanted[i / 64][i % 64]);
  }
}

TEST_CASE("a product behind a loop is added to those of the loop") {
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  constant uint& count [[buffer(2)]]) {
      simdgroup_float8x8 a, b, sum = make_filled_simdgroup_matrix<float, 8>(0.0f);
      uint k = 0;
      do {
        simdgroup_load(a, in + 128 * k, 8);
        simdgroup_load(b, in + 128 * k + 64, 8);
        simdgroup_multiply_accumulate(sum, a, b, sum);
      } while (++k < count);
      simdgroup_load(a, in + 128 * k, 8);
      simdgroup_load(b, in + 128 * k + 64, 8);
      simdgroup_multiply_accumulate(sum, a, b, sum);
      simdgroup_store(sum, out, 8);
    })";
  CHECK(test::vectorised(source)->explanation.fallback.empty());
  const Gpu gpu;
  constexpr uint kProducts = 4;
  const auto in = whole_numbers(kProducts * 128, 7);
  std::vector<float> out(64);

  gpu.run(source, "f", {.grid = size(32), .group = size(32)}, in, out, kProducts - 1);

  std::vector<float> wanted(64);
  for (std::size_t k = 0; k < kProducts; ++k) {
    const auto one = small_product(&in[128 * k], &in[128 * k + 64]);
    std::transform(one.begin(), one.end(), wanted.begin(), wanted.begin(), std::plus());
  }
  CHECK(out == wanted);
}

}  // namespace pewter
