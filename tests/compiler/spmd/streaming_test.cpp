#include <array>
#include <cstdlib>

#include "tests/compiler/spmd/shared_code.h"

// Stores that a text marks as streaming go past the caches where a dispatch writes more than those
// hold, and write what others write.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;

uint streamed_buffers(const std::string& source) {
  const auto code = test::vectorised(source);
  CHECK(code->explanation.fallback.empty());
  return code->streamed_buffers;
}

template <typename T>
void check_type(const char* type) {
  CAPTURE(type);
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(kHead + "using T = " + type + R"(;
      kernel void f(device const T* in [[buffer(0)]], device T* out [[buffer(1)]],
                    constant uint& count [[buffer(2)]], constant uint& shift [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
        if (i >= count) { return; }
        __builtin_nontemporal_store(T(in[i] + T(1)), out + shift + i);
      })",
                                     "f");
  for (const uint count : {1U, 31U, 64U, 1025U, 5000U}) {
    // Streams fill cache lines; a shifted array does not let them.
    for (const uint shift : {0U, 1U, 64U}) {
      std::vector<T> in(count);
      for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = static_cast<T>(i * 7);
      }
      std::vector<T> out(count + shift + 3, T(9));
      gpu.run(pipeline.get(), {.grid = size((count + 255) / 256 * 256), .group = size(256)}, in,
              out, count, shift);

      std::size_t wrong = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const bool is_written = i >= shift && i < shift + count;
        wrong += out[i] == (is_written ? static_cast<T>(in[i - shift] + T(1)) : T(9)) ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace

TEST_CASE("streaming stores write what plain ones do") {
  // Read when the first kernel that streams is dispatched, which is here.
  setenv("PEWTER_STREAM_BYTES", "0", 1);
  check_type<std::uint8_t>("uchar");
  check_type<std::int16_t>("short");
  check_type<float>("float");
  check_type<std::uint64_t>("ulong");
}

TEST_CASE("streaming stores of threads apart, of some threads, and again and again") {
  setenv("PEWTER_STREAM_BYTES", "0", 1);
  constexpr uint kCount = 4096;
  std::vector<uint> out(std::size_t{3} * kCount, 5);

  const Gpu gpu;
  gpu.run(kHead + R"(
    kernel void f(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      if (i % 3 != 0) { __builtin_nontemporal_store(i, out + i); }
      __builtin_nontemporal_store(i * 2, out + 4096 + (i * 5) % 4096);
      for (uint k = 0; k < i % 7; ++k) { __builtin_nontemporal_store(k + 1, out + 8192 + i); }
    })",
          "f", {.grid = size(kCount), .group = size(128)}, out);

  for (uint i = 0; i < kCount; ++i) {
    REQUIRE(out[i] == (i % 3 != 0 ? i : 5));
    REQUIRE(out[kCount + i * 5 % kCount] == i * 2);
    REQUIRE(out[2 * kCount + i] == (i % 7 != 0 ? i % 7 : 5));
  }
}

TEST_CASE("only stores to bound buffers stream") {
  CHECK(streamed_buffers(kHead + R"(
    kernel void f(device uint* a [[buffer(0)]], device float* b [[buffer(5)]],
                  uint i [[thread_position_in_grid]]) {
      a[i] = i;
      __builtin_nontemporal_store(float(i), b + i);
    })") == 1U << 5);
  CHECK(streamed_buffers(kHead + R"(
    kernel void f(device uint* a [[buffer(0)]], threadgroup uint* t [[threadgroup(0)]],
                  uint i [[thread_index_in_threadgroup]]) {
      __builtin_nontemporal_store(i, t + i);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      a[i] = t[i ^ 1];
    })") == 0);
}

}  // namespace pewter
