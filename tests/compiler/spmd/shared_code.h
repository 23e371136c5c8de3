#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "tests/support/gpu.h"

/// Functions that are C++ and MSL at once: the host computes what each thread should get from the
/// very same text.
namespace pewter::test {

// MSL's names.
// NOLINTBEGIN(readability-identifier-naming)
using uchar = std::uint8_t;
using ushort = std::uint16_t;
using uint = std::uint32_t;
using ulong = std::uint64_t;
// NOLINTEND(readability-identifier-naming)

/// Defines `result name parameters { body }` for the host, and its text as `name_text`.
#define PEWTER_SHARED(result, name, parameters, ...)                 \
  result name parameters __VA_ARGS__ const std::string name##_text = \
      #result " " #name #parameters #__VA_ARGS__ "\n";

/// What a kernel's text begins with.
inline const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// The kernel "f" of a text as a program of lanes.
inline std::shared_ptr<const compiler::KernelCode> vectorised(const std::string& source) {
  const auto library = compiler::open_library(source, {});
  REQUIRE(library);
  compiler::KernelRequest request;
  request.kernel = "f";
  request.mode = compiler::ExecutionMode::Spmd;
  const auto code = (*library)->compile(request);
  REQUIRE(code);
  return *code;
}

/// Numbers of threads that straddle the edges of simdgroups, programs and threadgroups.
inline const std::vector<std::size_t>& awkward_counts() {
  static const std::vector<std::size_t> counts = {1, 7, 31, 32, 33, 257, 1025};
  return counts;
}

/// Threadgroup sizes, from less than a simdgroup to the largest.
inline const std::vector<std::size_t>& awkward_groups() {
  static const std::vector<std::size_t> groups = {24, 32, 64, 100, 256, 1024};
  return groups;
}

/// Values that spread over small and large numbers, the same at every run.
inline std::vector<uint> noise(std::size_t count, uint seed = 1) {
  std::vector<uint> values(count);
  uint state = seed * 2654435761U + 12345;
  for (uint& value : values) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    value = state % 3 == 0 ? state % 50 : state;
  }
  return values;
}

/// Runs `uint function(uint i, uint x)` on every thread i with x = in[i], for all awkward sizes,
/// and compares with the host.
inline void check_shared(const std::string& text,
                         const std::string& name,
                         uint (*function)(uint, uint)) {
  const Gpu gpu;
  const std::string source =
      kHead + text +
      "kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n  out[i] = " +
      name + "(i, in[i]);\n}\n";
  const auto pipeline = gpu.pipeline(source, "f");
  for (const std::size_t count : awkward_counts()) {
    for (const std::size_t group : awkward_groups()) {
      const std::vector<uint> in = noise(count);
      std::vector<uint> out(count, 0xdeadbeef);
      gpu.run(pipeline.get(), {.grid = size(count), .group = size(group)}, in, out);

      std::size_t wrong = 0;
      for (uint i = 0; i < count; ++i) {
        const uint wanted = function(i, in[i]);
        if (out[i] != wanted && wrong++ == 0) {
          CHECK_MESSAGE(out[i] == wanted, name, " of thread ", i, " of ", count, ", groups of ",
                        group, ", x = ", in[i]);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace pewter::test
