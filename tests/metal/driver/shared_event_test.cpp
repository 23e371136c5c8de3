#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/metal/driver/command_support.h"
#include "tests/support/log_capture.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

NS::SharedPtr<MTL::SharedEvent> new_event(const Commands& gpu) {
  return NS::TransferPtr(gpu.device()->newSharedEvent());
}

TEST_CASE("the host releases a command buffer that waits") {
  Commands gpu;
  auto event = new_event(gpu);
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->encodeWait(event.get(), 3);
  gpu.encode(commands, "add_one", values.get());
  commands->commit();
  event->setSignaledValue(2);
  CHECK(commands->status() == MTL::CommandBufferStatusScheduled);

  event->setSignaledValue(3);
  commands->waitUntilCompleted();

  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("the host waits for a value that a command buffer signals") {
  Commands gpu;
  auto event = new_event(gpu);
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get());
  commands->encodeSignalEvent(event.get(), 9);
  commands->commit();

  CHECK(event->waitUntilSignaledValue(9, 60000));
  CHECK(event->signaledValue() == 9);
  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("a wait of the host ends after its time") {
  Commands gpu;
  auto event = new_event(gpu);
  CHECK(!event->waitUntilSignaledValue(1, 0));
  CHECK(!event->waitUntilSignaledValue(1, 5));
  event->setSignaledValue(1);
  CHECK(event->waitUntilSignaledValue(1, 0));
  CHECK(event->waitUntilSignaledValue(1, ~std::uint64_t(0)));
}

TEST_CASE("the host may lower the value") {
  Commands gpu;
  auto event = new_event(gpu);
  event->setSignaledValue(10);
  event->setSignaledValue(4);
  CHECK(event->signaledValue() == 4);
  CHECK(!event->waitUntilSignaledValue(5, 0));
}

TEST_CASE("a listener is notified once for each value it asked for") {
  Commands gpu;
  auto event = new_event(gpu);
  auto listener = NS::TransferPtr(MTL::SharedEventListener::alloc()->init());
  std::vector<std::uint64_t> values;
  std::atomic<std::uint32_t> calls = 0;
  const auto note = [&](MTL::SharedEvent* from, std::uint64_t value) {
    values.push_back(from == event.get() ? value : 0);
    ++calls;
    calls.notify_all();
  };
  const auto wait_for_calls = [&](std::uint32_t count) {
    for (std::uint32_t seen = calls; seen < count; seen = calls) {
      calls.wait(seen);
    }
  };
  event->notifyListener(listener.get(), 5, note);
  event->setSignaledValue(4);
  CHECK(calls == 0);

  event->setSignaledValue(7);
  wait_for_calls(1);
  event->setSignaledValue(8);
  event->notifyListener(listener.get(), 8, note);
  wait_for_calls(2);

  CHECK(values == std::vector<std::uint64_t>{5, 8});
}

TEST_CASE("a command buffer notifies a listener") {
  Commands gpu;
  auto event = new_event(gpu);
  std::atomic<bool> called = false;
  event->notifyListener(MTL::SharedEventListener::sharedListener(), 2,
                        [&](MTL::SharedEvent*, std::uint64_t) {
                          called = true;
                          called.notify_all();
                        });
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->encodeSignalEvent(event.get(), 2);

  CHECK(finish(commands) == "");
  called.wait(false);

  CHECK(called);
}

TEST_CASE("a notification that never comes is dropped with its event") {
  Commands gpu;
  auto witness = gpu.buffer({0});
  const NS::UInteger before = witness->retainCount();
  {
    auto event = new_event(gpu);
    auto listener = NS::TransferPtr(MTL::SharedEventListener::alloc()->init());
    event->notifyListener(listener.get(), 1, [witness](MTL::SharedEvent*, std::uint64_t) {});
    CHECK(witness->retainCount() > before);
  }
  CHECK(witness->retainCount() == before);
}

TEST_CASE("a notification needs a listener") {
  Commands gpu;
  pewter::test::LogCapture log;
  new_event(gpu)->notifyListener(nullptr, 1, [](MTL::SharedEvent*, std::uint64_t) {});
  CHECK(log.contains("validation: notifyListener needs a listener and a function"));
}

TEST_CASE("a handle leads to the same event") {
  Commands gpu;
  auto event = new_event(gpu);
  event->setLabel(pewter::test::string("exports"));
  auto handle = NS::TransferPtr(event->newSharedEventHandle());
  CHECK(pewter::test::text(handle->label()) == "exports");

  auto other = NS::TransferPtr(gpu.device()->newSharedEvent(handle.get()));
  other->setSignaledValue(6);

  CHECK(event->signaledValue() == 6);
}

TEST_CASE("threads of the host can signal each other") {
  Commands gpu;
  auto event = new_event(gpu);
  std::thread other([&] {
    CHECK(event->waitUntilSignaledValue(1, 60000));
    event->setSignaledValue(2);
  });
  event->setSignaledValue(1);
  CHECK(event->waitUntilSignaledValue(2, 60000));
  other.join();
}

}  // namespace
}  // namespace pewter::driver::test
