#include <doctest/doctest.h>

#include "tests/metal/driver/command_support.h"
#include "tests/support/log_capture.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

TEST_CASE("a queue waits for an event that another queue signals") {
  Commands gpu;
  auto other = gpu.new_queue();
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  auto list = gpu.buffer(Values(3));
  MTL::CommandBuffer* waiting = gpu.queue()->commandBuffer();
  waiting->encodeWait(event.get(), 1);
  gpu.encode_append(waiting, list.get(), 2);
  MTL::CommandBuffer* signalling = other->commandBuffer();
  gpu.encode_append(signalling, list.get(), 1);
  signalling->encodeSignalEvent(event.get(), 1);

  waiting->commit();
  signalling->commit();
  waiting->waitUntilCompleted();

  CHECK(waiting->status() == MTL::CommandBufferStatusCompleted);
  CHECK(list_of(list.get()) == Values{1, 2});
}

TEST_CASE("two queues can take turns many times") {
  Commands gpu;
  auto other = gpu.new_queue();
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  auto list = gpu.buffer(Values(201));
  MTL::CommandBuffer* first = gpu.queue()->commandBuffer();
  MTL::CommandBuffer* second = other->commandBuffer();
  Values expected;
  for (std::uint32_t i = 0; i < 100; ++i) {
    first->encodeWait(event.get(), 2 * i);
    gpu.encode_append(first, list.get(), 2 * i);
    first->encodeSignalEvent(event.get(), 2 * i + 1);
    second->encodeWait(event.get(), 2 * i + 1);
    gpu.encode_append(second, list.get(), 2 * i + 1);
    second->encodeSignalEvent(event.get(), 2 * i + 2);
    expected.push_back(2 * i);
    expected.push_back(2 * i + 1);
  }

  second->commit();
  first->commit();
  second->waitUntilCompleted();

  CHECK(list_of(list.get()) == expected);
}

TEST_CASE("what waits for a signal does not end before the command buffer that gave it") {
  Commands gpu;
  auto other = gpu.new_queue();
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  auto other_event = NS::TransferPtr(gpu.device()->newEvent());
  int out_of_order = 0;
  for (std::uint64_t round = 1; round <= 200; ++round) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* first = gpu.queue()->commandBuffer();
    first->encodeSignalEvent(event.get(), round);
    // Signals that take their time, while the other queue goes on.
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      first->encodeSignalEvent(other_event.get(), round * 1000 + i);
    }
    MTL::CommandBuffer* second = other->commandBuffer();
    second->encodeWait(event.get(), round);
    second->commit();
    first->commit();
    first->waitUntilCompleted();
    second->waitUntilCompleted();
    out_of_order += first->GPUEndTime() > second->GPUEndTime() ? 1 : 0;
  }
  CHECK(out_of_order == 0);
}

TEST_CASE("a value that was reached before does not make anybody wait") {
  Commands gpu;
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  MTL::CommandBuffer* signalling = gpu.queue()->commandBuffer();
  signalling->encodeSignalEvent(event.get(), 5);
  signalling->encodeSignalEvent(event.get(), 2);
  CHECK(finish(signalling) == "");

  MTL::CommandBuffer* waiting = gpu.queue()->commandBuffer();
  waiting->encodeWait(event.get(), 5);

  CHECK(finish(waiting) == "");
}

TEST_CASE("an event that nobody signals does not block other queues and times out") {
  Commands gpu;
  const pewter::test::LogCapture log;
  auto stuck = gpu.new_queue();
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  event->setLabel(pewter::test::string("never"));
  auto values = gpu.buffer({0});
  gpu.pipeline("add_one");
  const TimeLimit limit(100);
  MTL::CommandBuffer* waiting = stuck->commandBuffer();
  waiting->encodeWait(event.get(), 7);
  gpu.encode(waiting, "add_one", values.get());
  waiting->commit();
  MTL::CommandBuffer* behind = stuck->commandBuffer();
  gpu.encode(behind, "add_one", values.get());
  behind->commit();

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  CHECK(finish(commands) == "");
  CHECK(waiting->status() == MTL::CommandBufferStatusScheduled);
  waiting->waitUntilCompleted();
  behind->waitUntilCompleted();

  CHECK(error_code(waiting) == MTL::CommandBufferErrorTimeout);
  CHECK(pewter::test::text(waiting->error()) == "event 'never' did not reach 7 within 100 ms");
  CHECK(behind->status() == MTL::CommandBufferStatusCompleted);
  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("a command buffer that fails does not signal its events") {
  Commands gpu;
  const pewter::test::LogCapture log;
  auto event = NS::TransferPtr(gpu.device()->newSharedEvent());
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "far_away", values.get());
  commands->encodeSignalEvent(event.get(), 1);

  CHECK(finish(commands) != "");

  CHECK(event->signaledValue() == 0);
}

TEST_CASE("an event knows its device and its label") {
  Commands gpu;
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  auto fence = NS::TransferPtr(gpu.device()->newFence());
  event->setLabel(pewter::test::string("frames"));
  fence->setLabel(pewter::test::string("uploads"));

  CHECK(event->device() == gpu.device());
  CHECK(fence->device() == gpu.device());
  CHECK(pewter::test::text(event->label()) == "frames");
  CHECK(pewter::test::text(fence->label()) == "uploads");
}

}  // namespace
}  // namespace pewter::driver::test
