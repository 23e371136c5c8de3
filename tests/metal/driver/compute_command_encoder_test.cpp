#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "tests/metal/driver/command_support.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

/// Runs one dispatch that `record` encodes with the kernel already set.
template <typename Record>
void run(Commands& gpu, const std::string& kernel, Record record) {
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(gpu.pipeline(kernel));
  record(encoder);
  encoder->endEncoding();
  CHECK(finish(commands) == "");
}

TEST_CASE("buffers are bound at an offset, and offsets can be changed") {
  Commands gpu;
  auto values = gpu.buffer(Values(8));
  run(gpu, "add_one", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(values.get(), 8, 0);
    encoder->dispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
    encoder->setBufferOffset(20, 0);
    encoder->dispatchThreads(MTL::Size(3, 1, 1), MTL::Size(2, 1, 1));
  });
  CHECK(values_of(values.get()) == Values{0, 0, 1, 1, 0, 1, 1, 1});
}

TEST_CASE("a kernel that runs past a small buffer reaches nothing of another's") {
  Commands gpu;
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  for (int number = 0; number < 64; ++number) {
    buffers.push_back(gpu.buffer(Values(25)));
  }
  run(gpu, "add_one", [&](MTL::ComputeCommandEncoder* encoder) {
    for (std::size_t number = 0; number < buffers.size(); number += 2) {
      encoder->setBuffer(buffers[number].get(), 0, 0);
      encoder->dispatchThreads(MTL::Size(1024, 1, 1), MTL::Size(32, 1, 1));
    }
  });
  for (std::size_t number = 0; number < buffers.size(); ++number) {
    CAPTURE(number);
    CHECK(values_of(buffers[number].get()) == Values(25, number % 2 == 0 ? 1 : 0));
  }

  buffers.clear();
  auto next = NS::TransferPtr(gpu.device()->newBuffer(4000, MTL::ResourceStorageModeShared));
  CHECK(values_of(next.get()) == Values(1000));
}

TEST_CASE("several buffers are bound at once") {
  Commands gpu;
  auto first = gpu.buffer({1, 2, 3});
  auto second = gpu.buffer({0, 10, 20, 30});
  auto out = gpu.buffer(Values(3));
  run(gpu, "add_both", [&](MTL::ComputeCommandEncoder* encoder) {
    const MTL::Buffer* buffers[] = {first.get(), nullptr, nullptr, second.get()};
    const NS::UInteger offsets[] = {0, 0, 0, 4};
    encoder->setBuffers(buffers, offsets, NS::Range::Make(0, 4));
    encoder->setBuffer(out.get(), 0, 30);
    encoder->dispatchThreads(MTL::Size(3, 1, 1), MTL::Size(32, 1, 1));
  });
  CHECK(values_of(out.get()) == Values{11, 22, 33});
}

TEST_CASE("bytes are copied when they are set") {
  Commands gpu;
  auto list = gpu.buffer(Values(4));
  run(gpu, "append", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(list.get(), 0, 0);
    std::uint32_t value = 0;
    for (const std::uint32_t next : {7, 8, 9}) {
      value = next;
      encoder->setBytes(&value, sizeof(value), 1);
      encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    }
    value = 100;
  });
  CHECK(list_of(list.get()) == Values{7, 8, 9});
}

TEST_CASE("no bytes can be set for a parameter that the kernel does not read") {
  Commands gpu;
  auto out = gpu.buffer({5});
  const std::uint32_t count = 0;
  run(gpu, "add_first", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(out.get(), 0, 0);
    encoder->setBytes(nullptr, 0, 1);
    encoder->setBytes(&count, sizeof(count), 2);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->setBytes(&count, 0, 1);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  });
  CHECK(values_of(out.get()) == Values{5});
}

TEST_CASE("4096 bytes can be set directly") {
  Commands gpu;
  auto out = gpu.buffer({0});
  Values numbers(1024);
  std::iota(numbers.begin(), numbers.end(), 0);
  run(gpu, "read_wide", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(out.get(), 0, 0);
    encoder->setBytes(numbers.data(), 4096, 1);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  });
  CHECK(values_of(out.get()) == Values{7});
}

TEST_CASE("a grid of threads may end inside a threadgroup") {
  Commands gpu;
  auto out = gpu.buffer(Values(9));
  run(gpu, "shape", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(out.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(100, 7, 3), MTL::Size(32, 4, 2));
  });
  const auto shape = values_of(out.get());
  CHECK(Values(shape.begin(), shape.begin() + 6) == Values{100, 7, 3, 4, 2, 2});
}

TEST_CASE("a grid of threadgroups is a multiple of their size") {
  Commands gpu;
  auto out = gpu.buffer(Values(9));
  run(gpu, "shape", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(out.get(), 0, 0);
    encoder->dispatchThreadgroups(MTL::Size(3, 2, 1), MTL::Size(8, 4, 2));
  });
  CHECK(values_of(out.get()) == Values{24, 8, 2, 3, 2, 1, 8, 4, 2});
}

TEST_CASE("the number of threadgroups is read from a buffer when the dispatch runs") {
  Commands gpu;
  auto arguments = gpu.buffer({9, 1, 1, 0});
  auto out = gpu.buffer(Values(9));
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", arguments.get(), 4);
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(gpu.pipeline("shape"));
  encoder->setBuffer(out.get(), 0, 0);
  encoder->dispatchThreadgroups(arguments.get(), 4, MTL::Size(4, 1, 1));
  encoder->endEncoding();

  CHECK(finish(commands) == "");
  CHECK(values_of(out.get()) == Values{8, 2, 1, 2, 2, 1, 4, 1, 1});
}

TEST_CASE("an empty grid runs nothing") {
  Commands gpu;
  auto values = gpu.buffer({5});
  auto zeros = gpu.buffer({1, 0, 1});
  run(gpu, "add_one", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(values.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(0, 1, 1), MTL::Size(1, 1, 1));
    encoder->dispatchThreadgroups(MTL::Size(4, 0, 1), MTL::Size(1, 1, 1));
    encoder->dispatchThreadgroups(zeros.get(), 0, MTL::Size(1, 1, 1));
  });
  CHECK(values_of(values.get()) == Values{5});
}

TEST_CASE("threadgroup memory is handed out by index") {
  Commands gpu;
  Values numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto values = gpu.buffer(numbers);
  run(gpu, "reverse_groups", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(values.get(), 0, 0);
    encoder->setThreadgroupMemoryLength(64 * 4, 0);
    encoder->setThreadgroupMemoryLength(64 * 4, 1);
    encoder->dispatchThreads(MTL::Size(256, 1, 1), MTL::Size(64, 1, 1));
  });
  const auto reversed = values_of(values.get());
  for (std::uint32_t i = 0; i < 256; ++i) {
    REQUIRE(reversed[i] == i / 64 * 64 + 63 - i % 64);
  }
}

TEST_CASE("threadgroup memory may fill the limit") {
  Commands gpu;
  auto values = gpu.buffer(Values(64, 3));
  run(gpu, "reverse_groups", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setBuffer(values.get(), 0, 0);
    encoder->setThreadgroupMemoryLength(16384, 0);
    encoder->setThreadgroupMemoryLength(16384, 1);
    encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(64, 1, 1));
  });
  CHECK(values_of(values.get()) == Values(64, 3));
}

TEST_CASE("dispatches of a concurrent encoder see each other's results after a barrier") {
  Commands gpu;
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder =
      commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  CHECK(encoder->dispatchType() == MTL::DispatchTypeConcurrent);
  encoder->setComputePipelineState(gpu.pipeline("add_one"));
  encoder->setBuffer(values.get(), 0, 0);
  const MTL::Resource* resources[] = {values.get()};
  for (int i = 0; i < 10; ++i) {
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    if (i % 2 == 0) {
      encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    } else {
      encoder->memoryBarrier(resources, 1);
    }
  }
  encoder->endEncoding();

  CHECK(finish(commands) == "");
  CHECK(values_of(values.get()) == Values{10});
}

TEST_CASE("fences order encoders") {
  Commands gpu;
  auto fence = NS::TransferPtr(gpu.device()->newFence());
  auto list = gpu.buffer(Values(3));
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  for (std::uint32_t i = 1; i <= 2; ++i) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->waitForFence(fence.get());
    encoder->setComputePipelineState(gpu.pipeline("append"));
    encoder->setBuffer(list.get(), 0, 0);
    encoder->setBytes(&i, sizeof(i), 1);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->updateFence(fence.get());
    encoder->endEncoding();
  }

  CHECK(finish(commands) == "");
  CHECK(list_of(list.get()) == Values{1, 2});
}

TEST_CASE("a pass descriptor chooses the type of dispatch") {
  Commands gpu;
  auto descriptor = NS::TransferPtr(MTL::ComputePassDescriptor::alloc()->init());
  descriptor->setDispatchType(MTL::DispatchTypeConcurrent);
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();

  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder(descriptor.get());

  CHECK(encoder->dispatchType() == MTL::DispatchTypeConcurrent);
  encoder->endEncoding();
}

TEST_CASE("resources that kernels reach through pointers can be declared") {
  Commands gpu;
  auto values = gpu.buffer({0});
  const MTL::Resource* resources[] = {values.get()};
  run(gpu, "add_one", [&](MTL::ComputeCommandEncoder* encoder) {
    encoder->useResource(values.get(), MTL::ResourceUsageRead);
    encoder->useResources(resources, 1, MTL::ResourceUsageWrite);
    encoder->setBuffer(values.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  });
  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("a threadgroup parameter that the kernel never uses needs no length") {
  const pewter::test::Gpu gpu;
  std::vector<float> out(3);
  gpu.run(
      "kernel void f(device float* o [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],\n"
      "              uint i [[thread_position_in_grid]]) { o[i] = 1; }\n",
      "f", {.grid = pewter::test::size(3)}, out);
  CHECK(out == std::vector<float>{1, 1, 1});
}

}  // namespace
}  // namespace pewter::driver::test
