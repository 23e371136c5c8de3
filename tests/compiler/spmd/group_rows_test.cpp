#include <cstddef>

#include "tests/compiler/spmd/shared_code.h"

// Brief kernels run several groups of a row of the grid at one call, and nobody can tell.

namespace pewter {
namespace {

using test::Gpu;
using test::kHead;
using test::size;
using test::uint;
using test::vectorised;

// Threadgroup memory is there so that groups would notice each other.
const std::string kBrief = kHead + R"(
  kernel void f(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                constant uint& width [[buffer(2)]],
                uint2 position [[thread_position_in_grid]],
                uint2 group [[threadgroup_position_in_grid]],
                uint index [[thread_index_in_threadgroup]]) {
    threadgroup uint kept[1024];
    const uint i = position.y * width + position.x;
    kept[index] = in[i];
    out[i] = kept[index] * 3 + group.x * 1000 + group.y;
  })";

#if defined(__x86_64__)
/// Whether code for rows of threads asks for memory ahead: 0f 18 is the instruction.
bool prefetches(const std::string& source) {
  const auto library = compiler::open_library(source, {});
  REQUIRE(library);
  compiler::KernelRequest request;
  request.kernel = "f";
  request.mode = compiler::ExecutionMode::Spmd;
  request.shape.kind = compiler::GroupShape::Kind::Linear;
  // Wider programs load so much that they need not ask.
  request.lanes = 32;
  const auto compiled = (*library)->compile(request);
  REQUIRE(compiled);
  const std::shared_ptr<const compiler::KernelCode>& code = *compiled;
  CHECK(code->takes_rows);
  for (std::size_t i = 0; i + 1 < code->object.size(); ++i) {
    if (code->object[i] == std::byte{0x0f} && code->object[i + 1] == std::byte{0x18}) {
      return true;
    }
  }
  return false;
}
#endif

}  // namespace

TEST_CASE("rows of groups compute what groups alone would") {
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(kBrief, "f");
  for (const uint width : {1U, 63U, 64U, 1000U, 2111U}) {
    for (const uint height : {1U, 3U}) {
      for (const auto group : {size(1), size(8), size(32), size(100), size(16, 2)}) {
        CAPTURE(width);
        CAPTURE(height);
        CAPTURE(group.width);
        const std::vector<uint> in = test::noise(std::size_t{width} * height);
        std::vector<uint> out(in.size(), 7);
        gpu.run(pipeline.get(), {.grid = size(width, height), .group = group}, in, out, width);

        std::size_t wrong = 0;
        for (uint y = 0; y < height; ++y) {
          for (uint x = 0; x < width; ++x) {
            const auto group_x = x / static_cast<uint>(group.width);
            const auto group_y = y / static_cast<uint>(group.height);
            const uint wanted = in[y * width + x] * 3 + group_x * 1000 + group_y;
            wrong += out[y * width + x] == wanted ? 0 : 1;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a fault names its group, wherever that is in a row") {
  const Gpu gpu;
  const auto pipeline = gpu.pipeline(kHead + R"(
    kernel void f(device uint* out [[buffer(0)]], constant uint& bad [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      out[i == bad ? ulong(1) << 44 : ulong(i)] = i;
    })",
                                     "f");
  for (const uint bad_group : {0U, 1U, 63U, 64U, 77U, 129U}) {
    std::vector<uint> out(std::size_t{130} * 32);
    const std::string error = gpu.run_error(
        pipeline.get(), {.grid = size(out.size()), .group = size(32)}, out, bad_group * 32 + 5);

    CAPTURE(error);
    CHECK(error.find("in threadgroup (" + std::to_string(bad_group) + ", 0, 0)") !=
          std::string::npos);
  }
}

TEST_CASE("kernels without loops and barriers take rows of groups") {
  CHECK(vectorised(kHead + R"(
    kernel void f(device float* y, device const float* x, uint i [[thread_position_in_grid]]) {
      if (x[i] > 0) { y[i] += x[i]; }
    })")
            ->takes_rows);
  CHECK(!vectorised(kHead + R"(
    kernel void f(device float* y, constant uint& n, uint i [[thread_position_in_grid]]) {
      for (uint k = 0; k < n; ++k) { y[i] = y[i] * y[i] + 1; }
    })")
             ->takes_rows);
  CHECK(!vectorised(kHead + R"(
    kernel void f(device float* y, threadgroup float* t, uint i [[thread_index_in_threadgroup]]) {
      t[i] = y[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      y[i] = t[i ^ 64];
    })")
             ->takes_rows);
}

#if defined(__x86_64__)
TEST_CASE("groups that load more than they store ask for what the next ones load") {
  const auto sum_of_many = [](const std::string& start) {
    return kHead + R"(
      kernel void f(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    device const uint* b [[buffer(2)]], uint i [[thread_position_in_grid]]) {
        x += )" +
           start + R"(;
        float sum = 0;
        for (uint k = 0; k < 12; ++k) { sum += x[i + k * 4096]; }
        y[i] = sum;
      })";
  };
  CHECK(prefetches(sum_of_many("0")));
  // What is not known before the next group begins.
  CHECK(!prefetches(sum_of_many("b[0]")));
  CHECK(!prefetches(kHead + R"(
    kernel void f(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
      y[i] += 2 * x[i];
    })"));
}
#endif

}  // namespace pewter
