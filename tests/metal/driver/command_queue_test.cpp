#include <doctest/doctest.h>

#include <numeric>
#include <thread>

#include "tests/metal/driver/command_support.h"
#include "tests/support/log_capture.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

TEST_CASE("command buffers of a queue run in the order in which they are committed") {
  Commands gpu;
  auto list = gpu.buffer(Values(101));
  std::vector<MTL::CommandBuffer*> all;
  for (std::uint32_t i = 0; i < 100; ++i) {
    all.push_back(gpu.queue()->commandBuffer());
    gpu.encode_append(all.back(), list.get(), i);
    all.back()->commit();
  }

  all.back()->waitUntilCompleted();

  Values expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(list_of(list.get()) == expected);
  for (MTL::CommandBuffer* commands : all) {
    CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  }
}

TEST_CASE("enqueue fixes the order before commit") {
  Commands gpu;
  auto list = gpu.buffer(Values(4));
  MTL::CommandBuffer* first = gpu.queue()->commandBuffer();
  MTL::CommandBuffer* second = gpu.queue()->commandBuffer();
  first->enqueue();
  second->enqueue();
  gpu.encode_append(first, list.get(), 1);
  gpu.encode_append(second, list.get(), 2);
  CHECK(first->status() == MTL::CommandBufferStatusEnqueued);

  second->commit();
  CHECK(second->status() == MTL::CommandBufferStatusCommitted);
  first->commit();
  second->waitUntilCompleted();

  CHECK(list_of(list.get()) == Values{1, 2});
}

TEST_CASE("a command buffer that is enqueued and never committed makes way when it is released") {
  Commands gpu;
  auto list = gpu.buffer(Values(4));
  {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    gpu.queue()->commandBuffer()->enqueue();
  }
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode_append(commands, list.get(), 7);

  CHECK(finish(commands).empty());
  CHECK(list_of(list.get()) == Values{7});
}

TEST_CASE("queues do not wait for each other") {
  Commands gpu;
  auto other = gpu.new_queue();
  auto flag = gpu.buffer({0});
  auto values = gpu.buffer({1, 2});
  MTL::CommandBuffer* spinning = other->commandBuffer();
  gpu.encode(spinning, "spin_until_set", flag.get());
  spinning->commit();

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get(), 2);
  CHECK(finish(commands).empty());

  CHECK(values_of(values.get()) == Values{2, 3});
  CHECK(spinning->status() == MTL::CommandBufferStatusScheduled);
  std::atomic_ref(*static_cast<std::uint32_t*>(flag->contents())).store(1);
  spinning->waitUntilCompleted();
}

TEST_CASE("a queue works off what is committed even if nobody waits") {
  Commands gpu;
  auto values = gpu.buffer({5});
  auto event = NS::TransferPtr(gpu.device()->newSharedEvent());
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get());
  commands->encodeSignalEvent(event.get(), 1);
  commands->commit();

  CHECK(event->waitUntilSignaledValue(1, 60000));
  CHECK(values_of(values.get()) == Values{6});
}

TEST_CASE("several threads can commit to one queue") {
  Commands gpu;
  auto values = gpu.buffer({0});
  gpu.pipeline("add_one");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      for (int round = 0; round < 100; ++round) {
        MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
        gpu.encode(commands, "add_one", values.get());
        commands->commit();
        if (round % 3 == 0) {
          commands->waitUntilCompleted();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(finish(gpu.queue()->commandBuffer()).empty());

  CHECK(values_of(values.get()) == Values{400});
}

TEST_CASE("a queue for few command buffers makes their producer wait") {
  Commands gpu;
  auto queue = NS::TransferPtr(gpu.device()->newCommandQueue(2));
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* last = nullptr;
  for (int i = 0; i < 50; ++i) {
    last = queue->commandBuffer();
    gpu.encode(last, "add_one", values.get());
    last->commit();
  }
  last->waitUntilCompleted();

  CHECK(values_of(values.get()) == Values{50});
}

TEST_CASE("a queue for no command buffers cannot be made") {
  Commands gpu;
  const pewter::test::LogCapture log;

  CHECK(gpu.device()->newCommandQueue(NS::UInteger(0)) == nullptr);
  CHECK(log.contains("a command queue for 0 command buffers cannot be made"));
}

TEST_CASE("a queue knows its device and its label") {
  Commands gpu;
  CHECK(gpu.queue()->device() == gpu.device());
  CHECK(gpu.queue()->label() == nullptr);

  gpu.queue()->setLabel(pewter::test::string("uploads"));

  CHECK(pewter::test::text(gpu.queue()->label()) == "uploads");
}

TEST_CASE("a queue may be released while its command buffers run") {
  Commands gpu;
  auto values = gpu.buffer({0});
  NS::SharedPtr<MTL::CommandBuffer> commands;
  {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto queue = gpu.new_queue();
    commands = NS::RetainPtr(queue->commandBuffer());
    gpu.encode(commands.get(), "add_one", values.get());
    commands->commit();
  }

  commands->waitUntilCompleted();

  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(values_of(values.get()) == Values{1});
}

}  // namespace
}  // namespace pewter::driver::test
