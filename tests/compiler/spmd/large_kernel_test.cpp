#include "tests/compiler/spmd/shared_code.h"

// Kernels whose loops are unrolled into blocks of tens of thousands of instructions. LLVM takes
// minutes for one that is not divided, and the compiler's limit of processor time is one.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

constexpr unsigned kCount = 256;

}  // namespace

TEST_CASE("threads of a kernel in one large block copy their own elements") {
  // Loads and stores in turn, so that neighbours cannot be loaded together.
  const std::string source = "#include <metal_stdlib>\nusing namespace metal;\n#define COUNT " +
                             std::to_string(kCount) + R"(
    kernel void f(device const ushort* in [[buffer(0)]], device ushort* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      in += i * COUNT;
      out += i * COUNT;
    #pragma clang loop unroll(full)
      for (uint k = 0; k < COUNT; ++k) {
        out[k] = in[k ^ 1] + ushort(k);
      }
    })";
  constexpr unsigned kThreads = 70;
  std::vector<std::uint16_t> in(kThreads * kCount);
  std::vector<std::uint16_t> wanted(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::uint16_t>(i * 7);
    wanted[i ^ 1] = static_cast<std::uint16_t>(in[i] + (i ^ 1) % kCount);
  }
  std::vector<std::uint16_t> out(in.size());

  const Gpu gpu;
  gpu.run(source, "f", {.grid = size(kThreads), .group = size(64)}, in, out);

  CHECK(out == wanted);
}

}  // namespace pewter
