#include <doctest/doctest.h>

#include <Metal/Metal.hpp>
#include <vector>

#include "tests/support/gpu.h"

namespace pewter::test {
namespace {

constexpr const char* kSource = R"(
  #include <metal_stdlib>
  using namespace metal;
  struct Arguments { device const float* in; float scale; device float* outs[2]; };
  kernel void scale(constant Arguments& arguments [[buffer(4)]],
                    uint index [[thread_position_in_grid]]) {
    arguments.outs[0][index] = arguments.in[index];
    arguments.outs[1][index] = arguments.in[index] * arguments.scale;
  }
)";

TEST_CASE("a kernel follows the pointers that an encoder wrote") {
  Gpu gpu;
  const std::vector<float> values = {1, 2, 3, 4};
  auto in = gpu.buffer(values);
  auto out = gpu.buffer(std::vector<float>(8));
  auto library = gpu.library(kSource);
  auto function = NS::TransferPtr(library->newFunction(string("scale")));
  auto encoder = NS::TransferPtr(function->newArgumentEncoder(4));
  REQUIRE(encoder);
  auto arguments = NS::TransferPtr(
      gpu.device()->newBuffer(encoder->encodedLength(), MTL::ResourceStorageModeShared));
  encoder->setArgumentBuffer(arguments.get(), 0);
  encoder->setBuffer(in.get(), 0, 0);
  *static_cast<float*>(encoder->constantData(1)) = 0.5f;
  encoder->setBuffer(out.get(), 0, 2);
  encoder->setBuffer(out.get(), 16, 3);

  auto* commands = gpu.queue()->commandBuffer();
  auto* compute = commands->computeCommandEncoder();
  compute->setComputePipelineState(gpu.pipeline(library.get(), "scale").get());
  compute->setBuffer(arguments.get(), 0, 4);
  compute->useResource(in.get(), MTL::ResourceUsageRead);
  compute->useResource(out.get(), MTL::ResourceUsageWrite);
  compute->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  compute->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  REQUIRE(commands->status() == MTL::CommandBufferStatusCompleted);
  const auto* results = static_cast<const float*>(out->contents());
  CHECK(std::vector<float>(results, results + 8) ==
        std::vector<float>{1, 2, 3, 4, 0.5f, 1, 1.5f, 2});
}

}  // namespace
}  // namespace pewter::test
