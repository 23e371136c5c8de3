#include <doctest/doctest.h>

#include <atomic>
#include <numeric>

#include "pewter/metal/executor/executor.h"
#include "tests/metal/driver/command_support.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void wait_for_flag(device atomic_uint* flag [[buffer(0)]]) {
  while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {
  }
}

kernel void set_flag(device atomic_uint* flag [[buffer(0)]]) {
  atomic_store_explicit(flag, 1, memory_order_relaxed);
}

kernel void linger(device atomic_uint* flag [[buffer(0)]]) {
  for (uint i = 0; i < 20000 && atomic_load_explicit(flag, memory_order_relaxed) == 0; ++i) {
  }
}

kernel void double_into(device const uint* in [[buffer(0)]],
                        device uint* out [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  out[i] = 2 * in[i];
}
)";

/// Pipelines of the kernels above.
struct Kernels {
  explicit Kernels(const pewter::test::Gpu& gpu) : library(gpu.library(kSource)) {
    for (const char* name : {"wait_for_flag", "set_flag", "linger", "double_into"}) {
      pipelines.emplace_back(name, gpu.pipeline(library.get(), name));
    }
  }
  MTL::ComputePipelineState* operator[](const std::string& wanted) const {
    for (const auto& [name, pipeline] : pipelines) {
      if (name == wanted) {
        return pipeline.get();
      }
    }
    return nullptr;
  }

  NS::SharedPtr<MTL::Library> library;
  std::vector<std::pair<std::string, NS::SharedPtr<MTL::ComputePipelineState>>> pipelines;
};

void dispatch(MTL::ComputeCommandEncoder* encoder,
              MTL::ComputePipelineState* pipeline,
              std::size_t groups) {
  encoder->setComputePipelineState(pipeline);
  encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(1, 1, 1));
}

TEST_CASE("dispatches of a concurrent encoder run at the same time") {
  if (executor::thread_count() < 2) {
    MESSAGE("needs two threads");
    return;
  }
  const pewter::test::Gpu gpu;
  const Kernels kernels(gpu);
  auto flag = gpu.buffer(Values{0});

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  auto* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  encoder->setBuffer(flag.get(), 0, 0);
  dispatch(encoder, kernels["wait_for_flag"], 1);
  dispatch(encoder, kernels["set_flag"], 1);
  encoder->endEncoding();

  CHECK(finish(commands).empty());
}

TEST_CASE("a memory barrier separates the dispatches of a concurrent encoder") {
  const pewter::test::Gpu gpu;
  const Kernels kernels(gpu);
  Values numbers(5000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<NS::SharedPtr<MTL::Buffer>> stages;
  for (int i = 0; i < 8; ++i) {
    stages.push_back(gpu.buffer(i == 0 ? numbers : Values(numbers.size())));
  }

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  auto* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    encoder->setBuffer(stages[i - 1].get(), 0, 0);
    encoder->setBuffer(stages[i].get(), 0, 1);
    dispatch(encoder, kernels["double_into"], numbers.size());
    encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  }
  encoder->endEncoding();
  REQUIRE(finish(commands).empty());

  for (std::uint32_t& number : numbers) {
    number <<= 7;
  }
  CHECK(values_of(stages.back().get()) == numbers);
}

TEST_CASE("encoders follow each other even if both are concurrent") {
  const pewter::test::Gpu gpu;
  const Kernels kernels(gpu);
  Values numbers(5000);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto in = gpu.buffer(numbers);
  auto middle = gpu.buffer(Values(numbers.size()));
  auto out = gpu.buffer(Values(numbers.size()));

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  for (int i = 0; i < 2; ++i) {
    auto* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
    encoder->setBuffer(i == 0 ? in.get() : middle.get(), 0, 0);
    encoder->setBuffer(i == 0 ? middle.get() : out.get(), 0, 1);
    dispatch(encoder, kernels["double_into"], numbers.size());
    encoder->endEncoding();
  }
  REQUIRE(finish(commands).empty());

  for (std::uint32_t& number : numbers) {
    number *= 4;
  }
  CHECK(values_of(out.get()) == numbers);
}

TEST_CASE("long dispatches on many queues leave time for a short one that nobody waits for") {
  const pewter::test::Gpu gpu;
  const Kernels kernels(gpu);
  auto flag = gpu.buffer(Values{0});
  std::vector<NS::SharedPtr<MTL::CommandQueue>> queues;
  std::vector<MTL::CommandBuffer*> long_ones;
  for (std::uint32_t i = 0; i < 2 * executor::thread_count() + 1; ++i) {
    queues.push_back(NS::TransferPtr(gpu.device()->newCommandQueue()));
    long_ones.push_back(queues.back()->commandBuffer());
    auto* encoder = long_ones.back()->computeCommandEncoder();
    encoder->setBuffer(flag.get(), 0, 0);
    dispatch(encoder, kernels["linger"], 100'000'000);
    encoder->endEncoding();
    long_ones.back()->commit();
  }

  auto in = gpu.buffer(Values{21});
  auto out = gpu.buffer(Values{0});
  auto event = NS::TransferPtr(gpu.device()->newSharedEvent());
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setBuffer(in.get(), 0, 0);
  encoder->setBuffer(out.get(), 0, 1);
  dispatch(encoder, kernels["double_into"], 1);
  encoder->endEncoding();
  commands->encodeSignalEvent(event.get(), 1);
  commands->commit();

  CHECK(event->waitUntilSignaledValue(1, 30000));
  CHECK(values_of(out.get()) == Values{42});
  for (MTL::CommandBuffer* long_one : long_ones) {
    CHECK(long_one->status() == MTL::CommandBufferStatusScheduled);
  }
  std::atomic_ref(*static_cast<std::uint32_t*>(flag->contents())).store(1);
  for (MTL::CommandBuffer* long_one : long_ones) {
    long_one->waitUntilCompleted();
    CHECK(long_one->status() == MTL::CommandBufferStatusCompleted);
  }
}

}  // namespace
}  // namespace pewter::driver::test
