#include "pewter/metal/driver/kernel_variants.h"

#include <chrono>

#include "pewter/metal/driver/compute_pipeline.h"
#include "tests/support/gpu.h"

// Kernels that may be faster one thread at a time are tried in both ways while they work.

namespace pewter {
namespace {

using test::Gpu;
using test::size;
using Word = std::uint32_t;

const executor::Trial* trial_of(const NS::SharedPtr<MTL::ComputePipelineState>& pipeline) {
  return foundation::impl<driver::ComputePipelineState>(pipeline.get())->variants->trial();
}

/// Every thread goes along a row of its own, so that lanes are in as many lines of a cache that
/// keeps few at such distances.
const std::string kRows = R"(
  kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
    uint sum = 0;
    for (uint x = 0; x < n; ++x) { sum += in[i * n + x]; out[i * n + x] = sum; }
  })";

/// Many operations on what a thread finds at a place of its own.
const std::string kGathers = R"(
  kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
    uint value = in[(i * 2654435761u) >> 20];
    for (int k = 0; k < 400; ++k) value = (value ^ (value >> 7)) * 9u + uint(k);
    out[i] = value;
  })";

/// Sums of which nobody sees a part.
const std::string kSums = R"(
  #include <metal_stdlib>
  using namespace metal;
  kernel void f(device const uint* in [[buffer(0)]], device atomic_uint* out [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(out + (in[i] & 4095), in[i] >> 12, memory_order_relaxed);
    atomic_fetch_sub_explicit(out + 4096, 1, memory_order_relaxed);
  })";

/// Runs the kernel until it has been compared so often; checks each result.
void run_until_compared(const std::string& source,
                        const executor::Trial& trial,
                        const NS::SharedPtr<MTL::ComputePipelineState>& pipeline,
                        const Gpu& gpu,
                        Word threads,
                        const std::vector<Word>& in,
                        const std::vector<Word>& expected) {
  CAPTURE(source);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (trial.comparisons() < 2 && std::chrono::steady_clock::now() < end) {
    std::vector<Word> out(expected.size());
    gpu.run(pipeline.get(), {.grid = size(threads), .group = size(64)}, in, out);
    REQUIRE(out == expected);
  }
  REQUIRE(trial.comparisons() >= 2);
}

}  // namespace

TEST_CASE("a kernel whose lanes are in each other's way runs one thread at a time, with its bits") {
  const Gpu gpu;
  constexpr Word kThreads = 1024;
  std::vector<Word> in(std::size_t{kThreads} * kThreads);
  std::vector<Word> expected(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<Word>(i * 2654435761U >> 7);
    expected[i] = in[i] + (i % kThreads != 0 ? expected[i - 1] : 0);
  }
  const auto pipeline = gpu.pipeline(kRows, "f");
  const executor::Trial* trial = trial_of(pipeline);
  REQUIRE(trial != nullptr);

  run_until_compared(kRows, *trial, pipeline, gpu, kThreads, in, expected);

  CHECK(trial->prefers_rival());
}

TEST_CASE("a kernel that gathers and computes much stays on lanes") {
  const Gpu gpu;
  // Not whole groups.
  constexpr Word kThreads = 99'990;
  std::vector<Word> in(4096);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<Word>(i * 40503U);
  }
  std::vector<Word> expected(kThreads);
  for (Word i = 0; i < kThreads; ++i) {
    Word value = in[(i * 2654435761U) >> 20];
    for (Word k = 0; k < 400; ++k) {
      value = (value ^ (value >> 7)) * 9U + k;
    }
    expected[i] = value;
  }
  const auto pipeline = gpu.pipeline(kGathers, "f");
  const executor::Trial* trial = trial_of(pipeline);
  REQUIRE(trial != nullptr);

  run_until_compared(kGathers, *trial, pipeline, gpu, kThreads, in, expected);

  CHECK(!trial->prefers_rival());
}

TEST_CASE("sums by atomic operations are tried, each number added once") {
  const Gpu gpu;
  constexpr Word kThreads = 200'000;
  std::vector<Word> in(kThreads);
  std::vector<Word> expected(4097);
  for (Word i = 0; i < kThreads; ++i) {
    in[i] = i * 2654435761U;
    expected[in[i] & 4095] += in[i] >> 12;
    expected[4096] -= 1;
  }
  const auto pipeline = gpu.pipeline(kSums, "f");
  const executor::Trial* trial = trial_of(pipeline);
  REQUIRE(trial != nullptr);

  run_until_compared(kSums, *trial, pipeline, gpu, kThreads, in, expected);
}

TEST_CASE("nothing is tried where both are alike, or their results might not be") {
  const Gpu gpu;
  for (const char* body :
       {// Neighbours go to neighbouring places.
        "out[i] = float(i) * 2;",
        // Threads wait for each other.
        "threadgroup float t[64]; t[i & 63] = out[i * 7]; "
        "threadgroup_barrier(mem_flags::mem_threadgroup); out[i * 7] = t[~i & 63];",
        "out[i * 7] = simd_sum(out[i * 7]);",
        // What is added first depends on who comes first.
        "atomic_fetch_add_explicit((device atomic_float*)out + (uint(out[i]) & 7), 0.1f, "
        "memory_order_relaxed);",
        // A sum before a maximum is not one behind it.
        "device atomic_int* at = (device atomic_int*)out + (i * 7 & 7); "
        "atomic_fetch_add_explicit(at, 3, memory_order_relaxed); "
        "atomic_fetch_max_explicit(at, 5, memory_order_relaxed);",
        // Everybody sees who was first.
        "out[i * 7] = atomic_fetch_add_explicit((device atomic_int*)out, 3, "
        "memory_order_relaxed);"}) {
    CAPTURE(std::string(body));
    const auto pipeline = gpu.pipeline(
        "#include <metal_stdlib>\nusing namespace metal;\nkernel void f(device float* out "
        "[[buffer(0)]], uint i [[thread_position_in_grid]]) {" +
            std::string(body) + "}",
        "f");

    CHECK(trial_of(pipeline) == nullptr);
  }
}

TEST_CASE("a mode that a library asks for is kept") {
  const Gpu gpu;
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  const NS::Object* value = test::string("spmd");
  const NS::Object* name = test::string("PEWTER_MODE");
  options->setPreprocessorMacros(NS::Dictionary::dictionary(value, name));
  const auto library = gpu.library(kRows, options.get());

  const auto pipeline = gpu.pipeline(library.get(), "f");

  CHECK(trial_of(pipeline) == nullptr);
}

}  // namespace pewter
