#include <cmath>

#include "tests/support/gpu.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

std::vector<float> numbers(std::size_t count, float scale) {
  std::vector<float> values(count);
  for (std::size_t index = 0; index < count; ++index) {
    values[index] = std::sin(static_cast<float>(index)) * scale;
  }
  return values;
}

}  // namespace

TEST_CASE("a product of 8x8 matrices equals the plain loop") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                  device float* c [[buffer(2)]]) {
      simdgroup_float8x8 ma, mb, mc;
      simdgroup_load(ma, a, 8);
      simdgroup_load(mb, b, 8);
      simdgroup_load(mc, c, 8);
      simdgroup_multiply_accumulate(mc, ma, mb, mc);
      simdgroup_store(mc, c, 8);
    })";
  const auto a = numbers(64, 2);
  const auto b = numbers(64, 3);
  auto c = numbers(64, 1);
  const auto before = c;

  gpu.run(source, "f", {.grid = size(32)}, a, b, c);

  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      double sum = before[row * 8 + column];
      for (std::size_t k = 0; k < 8; ++k) {
        sum += double(a[row * 8 + k]) * b[k * 8 + column];
      }
      CHECK(c[row * 8 + column] == doctest::Approx(sum).epsilon(1e-5));
    }
  }
}

TEST_CASE("loads and stores honour stride, origin and transposition") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  uint i [[thread_index_in_threadgroup]]) {
      threadgroup float tile[16 * 8];
      simdgroup_float8x8 m;
      simdgroup_load(m, in, 20, ulong2(3, 2), true);
      simdgroup_store(m, tile, 16);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      simdgroup_load(m, tile, 16);
      simdgroup_store(m, out, 8, ulong2(0, 1), true);
    })";
  const auto in = numbers(20 * 12, 1);
  std::vector<float> out(9 * 8);

  gpu.run(source, "f", {.grid = size(32)}, in, out);

  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      CHECK(out[(row + 1) * 8 + column] == in[(row + 2) * 20 + column + 3]);
    }
  }
}

TEST_CASE("thread_elements shows Apple's layout") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const float* in [[buffer(0)]], device float2* out [[buffer(1)]],
                  uint lane [[thread_index_in_simdgroup]]) {
      simdgroup_float8x8 m;
      simdgroup_load(m, in, 8);
      out[lane] = float2(m.thread_elements()[0], m.thread_elements()[1]);
      thread auto& mine = m.thread_elements();
      mine[0] = 0;
    })";
  std::vector<float> in(64);
  for (std::size_t index = 0; index < 64; ++index) {
    in[index] = static_cast<float>(index);
  }
  std::vector<float> out(64);

  gpu.run(source, "f", {.grid = size(32)}, in, out);

  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t quad = lane / 4;
    const std::size_t row = (quad & 4) + (lane / 2) % 4;
    const std::size_t column = (quad & 2) * 2 + (lane % 2) * 2;
    CHECK(out[lane * 2] == static_cast<float>(row * 8 + column));
    CHECK(out[lane * 2 + 1] == static_cast<float>(row * 8 + column + 1));
  }
}

TEST_CASE("half and bfloat matrices multiply into float") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device const half* h [[buffer(0)]], device const bfloat* b [[buffer(1)]],
                  device float* out [[buffer(2)]]) {
      simdgroup_half8x8 mh;
      simdgroup_bfloat8x8 mb;
      simdgroup_float8x8 mf = make_filled_simdgroup_matrix<float, 8>(1.0f);
      simdgroup_load(mh, h, 8);
      simdgroup_load(mb, b, 8);
      simdgroup_multiply_accumulate(mf, mh, mb, mf);
      simdgroup_float8x8 identity(1.0f);
      mf = mf * identity;
      simdgroup_store(mf, out, 8);
    })";
  const std::vector<std::uint16_t> twos(64, 0x4000);    // 2 as half
  const std::vector<std::uint16_t> threes(64, 0x4040);  // 3 as bfloat
  std::vector<float> out(64);

  gpu.run(source, "f", {.grid = size(32)}, twos, threes, out);

  CHECK(out == std::vector<float>(64, 49));
}

TEST_CASE("a matrix of another size or type is a compile error") {
  const Gpu gpu;

  CHECK(gpu.library_error(kHead + "kernel void f(device int* x) { simdgroup_matrix<int, 8, 8> m; }")
            .find("simdgroup_matrix: elements are half, bfloat or float") != std::string::npos);
  CHECK(gpu.library_error(kHead + "kernel void f(device int* x) { simdgroup_matrix<float, 4> m; }")
            .find("simdgroup_matrix: only 8x8 exists") != std::string::npos);
}

}  // namespace pewter
