#include <numeric>

#include "tests/support/gpu.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

}  // namespace

TEST_CASE("atomics on device memory lose no update") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device atomic_uint* u [[buffer(0)]], device atomic_int* s [[buffer(1)]],
                  device atomic_float* g [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      atomic_fetch_add_explicit(&u[0], 1, memory_order_relaxed);
      atomic_fetch_sub_explicit(&u[1], 2, memory_order_relaxed);
      atomic_fetch_or_explicit(&u[2], 1u << (i % 32), memory_order_relaxed);
      atomic_fetch_and_explicit(&u[3], ~(1u << (i % 8)), memory_order_relaxed);
      atomic_fetch_xor_explicit(&u[4], i, memory_order_relaxed);
      atomic_fetch_max_explicit(&u[5], i, memory_order_relaxed);
      atomic_fetch_min_explicit(&s[0], -int(i), memory_order_relaxed);
      atomic_fetch_max_explicit(&s[1], -int(i), memory_order_relaxed);
      atomic_fetch_add_explicit(&g[0], 0.5f, memory_order_relaxed);
    })";
  constexpr std::uint32_t kThreads = 10000;
  std::vector<std::uint32_t> u = {0, 3 * kThreads, 0, 0xffffffff, 0, 0};
  std::vector<std::int32_t> s = {100, -100000};
  std::vector<float> g = {0};

  gpu.run(source, "f", {.grid = size(kThreads), .group = size(64)}, u, s, g);

  std::uint32_t xored = 0;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    xored ^= thread;
  }
  CHECK(u == std::vector<std::uint32_t>{kThreads, kThreads, 0xffffffff, 0xffffff00, xored,
                                        kThreads - 1});
  CHECK(s == std::vector<std::int32_t>{-int(kThreads - 1), 0});
  CHECK(g[0] == kThreads * 0.5F);
}

TEST_CASE("a fetch gives the value from before, each exactly once") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device atomic_uint& next [[buffer(0)]], device uint* seen [[buffer(1)]]) {
      seen[atomic_fetch_add_explicit(&next, 1u, memory_order_relaxed)] += 1;
    })";
  std::vector<std::uint32_t> next = {0};
  std::vector<std::uint32_t> seen(5000);

  gpu.run(source, "f", {.grid = size(5000), .group = size(32)}, next, seen);

  CHECK(seen == std::vector<std::uint32_t>(5000, 1));
}

TEST_CASE("load, store, exchange and compare-exchange do what they say") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device atomic_int* a [[buffer(0)]], device int* out [[buffer(1)]]) {
      atomic_store_explicit(a, 5, memory_order_relaxed);
      out[0] = atomic_load_explicit(a, memory_order_relaxed);
      out[1] = atomic_exchange_explicit(a, 7, memory_order_relaxed);
      int expected = 6;
      out[2] = atomic_compare_exchange_weak_explicit(a, &expected, 9, memory_order_relaxed,
                                                     memory_order_relaxed);
      out[3] = expected;
      out[4] = atomic_compare_exchange_weak_explicit(a, &expected, 9, memory_order_relaxed,
                                                     memory_order_relaxed);
      out[5] = atomic_load_explicit(a, memory_order_relaxed);
    })";
  std::vector<int> a = {0};
  std::vector<int> out(6);

  gpu.run(source, "f", {.grid = size(1)}, a, out);

  CHECK(out == std::vector<int>{5, 5, 0, 7, 1, 9});
}

TEST_CASE("64-bit minimum and maximum work on atomic_ulong") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device atomic_ulong* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      ulong value = (ulong(i) << 33) + 1;
      atomic_max_explicit(&a[0], value, memory_order_relaxed);
      atomic_min_explicit(&a[1], value, memory_order_relaxed);
    })";
  std::vector<std::uint64_t> a = {0, ~std::uint64_t{0}};

  gpu.run(source, "f", {.grid = size(100)}, a);

  CHECK(a[0] == (std::uint64_t{99} << 33) + 1);
  CHECK(a[1] == 1);
}

TEST_CASE("atomics in threadgroup memory count a group's threads") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device uint* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]]) {
      threadgroup atomic_uint count;
      if (i == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      atomic_fetch_add_explicit(&count, i, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (i == 0) out[group] = atomic_load_explicit(&count, memory_order_relaxed);
    })";
  std::vector<std::uint32_t> out(10);

  gpu.run(source, "f", {.grid = size(10 * 64), .group = size(64)}, out);

  CHECK(out == std::vector<std::uint32_t>(10, 64 * 63 / 2));
}

TEST_CASE("an operation that Metal does not have for a type is a compile error") {
  const Gpu gpu;
  const auto error = [&](const std::string& statement) {
    return gpu.library_error(
        kHead +
        "kernel void f(device atomic_float* f [[buffer(0)]], device atomic_ulong* u\n"
        "[[buffer(1)]], device uint* plain [[buffer(2)]]) {\n" +
        statement + "\n}");
  };

  CHECK(error("atomic_fetch_max_explicit(f, 1.0f, memory_order_relaxed);")
            .find("atomic_fetch_max_explicit: Metal has it for int and uint") != std::string::npos);
  CHECK(error("atomic_fetch_add_explicit(u, 1ul, memory_order_relaxed);")
            .find("atomic_fetch_add_explicit: Metal has it for int, uint and float") !=
        std::string::npos);
  CHECK(error("atomic_fetch_add_explicit(plain, 1u, memory_order_relaxed);")
            .find("program_source:5:1: error: no matching function") == 0);
}

}  // namespace pewter
