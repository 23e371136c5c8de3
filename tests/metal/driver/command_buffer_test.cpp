#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/metal/driver/command_support.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

TEST_CASE("an empty command buffer completes") {
  Commands gpu;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  CHECK(commands->status() == MTL::CommandBufferStatusNotEnqueued);

  CHECK(finish(commands).empty());

  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(commands->commandQueue() == gpu.queue());
  CHECK(commands->device() == gpu.device());
}

TEST_CASE("commands run in the order in which they are recorded") {
  Commands gpu;
  auto list = gpu.buffer(Values(10));
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  for (std::uint32_t i = 0; i < 5; ++i) {
    gpu.encode_append(commands, list.get(), 10 + i);
  }

  CHECK(finish(commands).empty());

  CHECK(list_of(list.get()) == Values{10, 11, 12, 13, 14});
}

TEST_CASE("handlers run in order and before the wait is over") {
  Commands gpu;
  std::vector<int> calls;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::CommandBufferStatus seen = MTL::CommandBufferStatusNotEnqueued;
  commands->addScheduledHandler([&](MTL::CommandBuffer*) { calls.push_back(1); });
  commands->addScheduledHandler([&](MTL::CommandBuffer*) { calls.push_back(2); });
  commands->addCompletedHandler([&](MTL::CommandBuffer* done) {
    seen = done->status();
    calls.push_back(done == commands ? 3 : 0);
  });
  commands->addCompletedHandler([&](MTL::CommandBuffer*) { calls.push_back(4); });

  CHECK(finish(commands).empty());

  CHECK(calls == std::vector<int>{1, 2, 3, 4});
  CHECK(seen == MTL::CommandBufferStatusCompleted);
}

TEST_CASE("handlers have run when the wait ends, in the order of the command buffers") {
  Commands gpu;
  for (int round = 0; round < 100; ++round) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    std::vector<int> calls;
    MTL::CommandBuffer* last = nullptr;
    for (int i = 0; i < 20; ++i) {
      last = gpu.queue()->commandBuffer();
      last->addCompletedHandler([&calls, i](MTL::CommandBuffer*) { calls.push_back(i); });
      last->commit();
    }

    last->waitUntilCompleted();

    REQUIRE(calls.size() == 20);
    for (int i = 0; i < 20; ++i) {
      REQUIRE(calls[static_cast<std::size_t>(i)] == i);
    }
  }
}

TEST_CASE("handlers run without anybody who waits") {
  Commands gpu;
  std::atomic<bool> is_called = false;
  std::thread::id handler;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->addCompletedHandler([&](MTL::CommandBuffer*) {
    handler = std::this_thread::get_id();
    is_called = true;
    is_called.notify_all();
  });

  commands->commit();
  is_called.wait(false);

  CHECK(handler != std::this_thread::get_id());
}

TEST_CASE("several threads may wait for command buffers of one queue") {
  Commands gpu;
  auto values = gpu.buffer(Values(1000));
  gpu.pipeline("add_one");
  std::atomic<int> calls = 0;
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  const auto work = [&] {
    for (int i = 0; i < kRounds; ++i) {
      auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
      gpu.encode(commands, "add_one", values.get(), 1000);
      std::atomic<bool> is_called = false;
      commands->addCompletedHandler([&](MTL::CommandBuffer*) {
        is_called = true;
        ++calls;
      });
      commands->commit();
      commands->waitUntilCompleted();
      REQUIRE(is_called);
    }
  };

  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  CHECK(calls == kThreads * kRounds);
  CHECK(values_of(values.get())[999] == kThreads * kRounds);
}

TEST_CASE("a handler may commit and wait for another command buffer of the same queue") {
  Commands gpu;
  auto list = gpu.buffer(Values(3));
  gpu.pipeline("append");
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode_append(commands, list.get(), 1);
  commands->addCompletedHandler([&](MTL::CommandBuffer*) {
    MTL::CommandBuffer* next = gpu.queue()->commandBuffer();
    gpu.encode_append(next, list.get(), 2);
    next->addCompletedHandler([](MTL::CommandBuffer*) {});
    next->commit();
    next->waitUntilCompleted();
  });

  CHECK(finish(commands).empty());

  CHECK(list_of(list.get()) == Values{1, 2});
}

TEST_CASE("a handler that blocks does not keep the queue from running") {
  Commands gpu;
  auto values = gpu.buffer({0});
  std::atomic<bool> release = false;
  MTL::CommandBuffer* first = gpu.queue()->commandBuffer();
  first->addCompletedHandler([&](MTL::CommandBuffer*) { release.wait(false); });
  first->commit();

  MTL::CommandBuffer* second = gpu.queue()->commandBuffer();
  gpu.encode(second, "add_one", values.get());
  CHECK(finish(second).empty());
  release.store(true);
  release.notify_all();
  first->waitUntilCompleted();

  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("a handler can hold the last reference to its command buffer and queue") {
  Commands gpu;
  auto done = NS::TransferPtr(gpu.device()->newSharedEvent());
  {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto queue = gpu.new_queue();
    MTL::CommandBuffer* commands = queue->commandBuffer();
    commands->addCompletedHandler(
        [queue, done](MTL::CommandBuffer*) { done->setSignaledValue(1); });
    queue.reset();
    commands->commit();
  }

  CHECK(done->waitUntilSignaledValue(1, 60000));
}

TEST_CASE("a handler may let go of the last reference to what a thread waits for") {
  Commands gpu;
  int calls = 0;

  for (int round = 0; round < 100; ++round) {
    MTL::CommandBuffer* commands = nullptr;
    {
      auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      auto queue = gpu.new_queue();
      commands = queue->commandBuffer()->retain();
    }
    commands->addCompletedHandler([&](MTL::CommandBuffer* done) {
      ++calls;
      done->release();
    });
    commands->commit();
    commands->waitUntilCompleted();
  }

  CHECK(calls == 100);
}

TEST_CASE("a command buffer is scheduled without anybody waiting for its completion") {
  Commands gpu;
  auto event = NS::TransferPtr(gpu.device()->newSharedEvent());
  MTL::CommandBuffer* blocked = gpu.queue()->commandBuffer();
  blocked->encodeWait(event.get(), 1);
  blocked->commit();
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  bool scheduled = false;
  commands->addScheduledHandler([&](MTL::CommandBuffer*) { scheduled = true; });
  commands->commit();

  commands->waitUntilScheduled();

  CHECK(scheduled);
  CHECK(commands->status() == MTL::CommandBufferStatusScheduled);
  event->setSignaledValue(1);
  commands->waitUntilCompleted();
}

TEST_CASE("times of a command buffer lie in order") {
  Commands gpu;
  auto values = gpu.buffer(Values(100000));
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get(), 100000);
  CHECK(commands->GPUStartTime() == 0);

  CHECK(finish(commands).empty());

  CHECK(commands->kernelStartTime() > 0);
  CHECK(commands->kernelStartTime() <= commands->kernelEndTime());
  CHECK(commands->kernelEndTime() <= commands->GPUStartTime());
  CHECK(commands->GPUStartTime() < commands->GPUEndTime());
}

TEST_CASE("resources are kept until the command buffer has completed, and no longer") {
  Commands gpu;
  auto event = NS::TransferPtr(gpu.device()->newSharedEvent());
  auto values = gpu.buffer({1});
  const NS::UInteger before = values->retainCount();
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->encodeWait(event.get(), 1);
  gpu.encode(commands, "add_one", values.get());
  gpu.encode(commands, "add_one", values.get());
  commands->commit();
  CHECK(values->retainCount() > before);

  event->setSignaledValue(1);
  commands->waitUntilCompleted();

  CHECK(values->retainCount() == before);
}

TEST_CASE("unretained references are not retained") {
  Commands gpu;
  auto values = gpu.buffer({1});
  const NS::UInteger before = values->retainCount();
  MTL::CommandBuffer* commands = gpu.queue()->commandBufferWithUnretainedReferences();
  gpu.encode(commands, "add_one", values.get());

  CHECK(!commands->retainedReferences());
  CHECK(values->retainCount() == before);
  CHECK(finish(commands).empty());
  CHECK(values_of(values.get()) == Values{2});
}

TEST_CASE("a descriptor sets references and error options") {
  Commands gpu;
  auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setRetainedReferences(false);
  descriptor->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer(descriptor.get());

  CHECK(!commands->retainedReferences());
  CHECK(commands->errorOptions() == MTL::CommandBufferErrorOptionEncoderExecutionStatus);
}

TEST_CASE("labels and debug groups are accepted") {
  Commands gpu;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->setLabel(pewter::test::string("frame 7"));
  commands->pushDebugGroup(pewter::test::string("physics"));
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setLabel(pewter::test::string("collide"));
  encoder->pushDebugGroup(pewter::test::string("broad phase"));
  encoder->insertDebugSignpost(pewter::test::string("begin"));
  encoder->popDebugGroup();
  encoder->endEncoding();
  commands->popDebugGroup();

  CHECK(finish(commands).empty());
  CHECK(pewter::test::text(commands->label()) == "frame 7");
  CHECK(pewter::test::text(encoder->label()) == "collide");
}

TEST_CASE("many command buffers with much data reuse their storage") {
  Commands gpu;
  auto values = gpu.buffer({0});
  std::vector<std::byte> bytes(4096);
  for (int round = 0; round < 20; ++round) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(gpu.pipeline("add_one"));
    encoder->setBuffer(values.get(), 0, 0);
    for (int i = 0; i < 100; ++i) {
      encoder->setBytes(bytes.data(), bytes.size(), 5);
      encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    }
    encoder->endEncoding();
    REQUIRE(finish(commands).empty());
  }
  CHECK(values_of(values.get()) == Values{2000});
}

}  // namespace
}  // namespace pewter::driver::test
