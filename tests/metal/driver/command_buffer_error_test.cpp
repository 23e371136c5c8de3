#include <doctest/doctest.h>

#include "tests/metal/driver/command_support.h"
#include "tests/support/log_capture.h"
#include "tests/support/sanitizer_limits.h"

namespace pewter::driver::test {
namespace {

using pewter::test::LogCapture;
using Values = std::vector<std::uint32_t>;

TEST_CASE("a page fault fails its command buffer and nothing else") {
  Commands gpu;
  const LogCapture log;
  auto list = gpu.buffer(Values(4));
  MTL::CommandBuffer* bad = gpu.queue()->commandBuffer();
  gpu.encode_append(bad, list.get(), 1);
  gpu.encode(bad, "far_away", list.get());
  gpu.encode_append(bad, list.get(), 2);
  MTL::CommandBuffer* good = gpu.queue()->commandBuffer();
  gpu.encode_append(good, list.get(), 3);

  const std::string error = finish(bad);
  CHECK(finish(good).empty());

  CHECK(error.find("kernel 'far_away': page fault at address 0x") == 0);
  CHECK(error.find("in threadgroup (0, 0, 0)") != std::string::npos);
  CHECK(error_code(bad) == MTL::CommandBufferErrorPageFault);
  CHECK(list_of(list.get()) == Values{1, 3});
}

TEST_CASE("an endless kernel ends with a timeout and the queue goes on") {
  if (!pewter::test::can_stop_kernels()) {
    return;
  }
  Commands gpu;
  const LogCapture log;
  auto flag = gpu.buffer({0});
  auto values = gpu.buffer({0});
  gpu.pipeline("spin_until_set");
  const TimeLimit limit(50);
  MTL::CommandBuffer* endless = gpu.queue()->commandBuffer();
  gpu.encode(endless, "spin_until_set", flag.get());
  MTL::CommandBuffer* next = gpu.queue()->commandBuffer();
  gpu.encode(next, "add_one", values.get());

  const std::string error = finish(endless);
  CHECK(finish(next).empty());

  CHECK(error == "kernel 'spin_until_set': stopped after 50 ms in threadgroup (0, 0, 0)");
  CHECK(error_code(endless) == MTL::CommandBufferErrorTimeout);
  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("handlers of a failed command buffer see the error") {
  Commands gpu;
  const LogCapture log;
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "far_away", values.get());
  NS::Integer code = 0;
  commands->addCompletedHandler([&](MTL::CommandBuffer* done) { code = error_code(done); });

  CHECK(!finish(commands).empty());

  CHECK(code == MTL::CommandBufferErrorPageFault);
}

TEST_CASE("the error tells how far each encoder came when that is asked for") {
  Commands gpu;
  const LogCapture log;
  auto values = gpu.buffer({0});
  auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer(descriptor.get());
  const char* kernels[] = {"add_one", "far_away", "add_one"};
  for (const char* kernel : kernels) {
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setLabel(pewter::test::string(kernel));
    encoder->insertDebugSignpost(pewter::test::string("here"));
    encoder->setComputePipelineState(gpu.pipeline(kernel));
    encoder->setBuffer(values.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
  }

  CHECK(!finish(commands).empty());

  auto* infos = static_cast<NS::Array*>(
      commands->error()->userInfo()->object(MTL::CommandBufferEncoderInfoErrorKey));
  REQUIRE(infos != nullptr);
  REQUIRE(infos->count() == 3);
  const MTL::CommandEncoderErrorState states[] = {MTL::CommandEncoderErrorStateCompleted,
                                                  MTL::CommandEncoderErrorStateFaulted,
                                                  MTL::CommandEncoderErrorStatePending};
  for (NS::UInteger i = 0; i < 3; ++i) {
    auto* info = infos->object<MTL::CommandBufferEncoderInfo>(i);
    CHECK(pewter::test::text(info->label()) == kernels[i]);
    CHECK(info->errorState() == states[i]);
    CHECK(info->debugSignposts()->count() == 1);
  }
}

TEST_CASE("committing twice is reported and runs the commands once") {
  Commands gpu;
  LogCapture log;
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get());

  commands->commit();
  commands->commit();
  commands->waitUntilCompleted();

  CHECK(log.contains("validation: commit on a command buffer that is already committed"));
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("a committed command buffer takes no more commands") {
  Commands gpu;
  LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  CHECK(finish(commands).empty());

  CHECK(commands->computeCommandEncoder() == nullptr);
  CHECK(commands->blitCommandEncoder() == nullptr);
  commands->enqueue();
  commands->addCompletedHandler([](MTL::CommandBuffer*) {});

  CHECK(log.contains(
      "validation: computeCommandEncoder on a command buffer that is already committed"));
  CHECK(
      log.contains("validation: blitCommandEncoder on a command buffer that is already committed"));
  CHECK(log.contains("validation: enqueue on a command buffer that is already committed"));
  CHECK(log.contains(
      "validation: addCompletedHandler on a command buffer that is already committed"));
}

TEST_CASE("waiting for a command buffer that is not committed returns with a message") {
  Commands gpu;
  LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();

  commands->waitUntilCompleted();
  commands->waitUntilScheduled();

  CHECK(log.contains("waitUntilCompleted on a command buffer that is not committed"));
  CHECK(log.contains("waitUntilScheduled on a command buffer that is not committed"));
}

TEST_CASE("a commit with an open encoder fails the command buffer") {
  Commands gpu;
  LogCapture log;
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get());
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();

  CHECK(finish(commands) == "commit before endEncoding of an encoder");

  CHECK(error_code(commands) == MTL::CommandBufferErrorInternal);
  CHECK(values_of(values.get()) == Values{0});
  encoder->endEncoding();
  CHECK(log.contains("validation: endEncoding after endEncoding"));
}

TEST_CASE("two encoders open at once fail the command buffer") {
  Commands gpu;
  const LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* first = commands->computeCommandEncoder();
  MTL::BlitCommandEncoder* second = commands->blitCommandEncoder();
  first->endEncoding();
  second->endEncoding();

  CHECK(finish(commands) == "an encoder is opened before endEncoding of the one before it");
}

TEST_CASE("an encoder released before endEncoding fails the command buffer") {
  Commands gpu;
  const LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    commands->computeCommandEncoder();
  }

  CHECK(finish(commands) == "an encoder is released before endEncoding");
}

TEST_CASE("the first mistake becomes the error and all are in the log") {
  Commands gpu;
  LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->setLabel(pewter::test::string("wrong"));
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setBuffer(nullptr, 0, 31);
  encoder->setThreadgroupMemoryLength(40000, 0);
  encoder->endEncoding();

  CHECK(finish(commands) == "setBuffer at index 31, limit 30");

  CHECK(log.contains("validation: command buffer 'wrong': setBuffer at index 31, limit 30"));
  CHECK(log.contains("setThreadgroupMemoryLength of 40000 bytes at index 0, limit 32768"));
}

TEST_CASE("events cannot be encoded inside an encoder or without an event") {
  Commands gpu;
  const LogCapture log;
  auto event = NS::TransferPtr(gpu.device()->newEvent());
  MTL::CommandBuffer* inside = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = inside->computeCommandEncoder();
  inside->encodeSignalEvent(event.get(), 1);
  encoder->endEncoding();
  MTL::CommandBuffer* without = gpu.queue()->commandBuffer();
  without->encodeWait(nullptr, 1);

  CHECK(finish(inside) == "encodeSignalEvent while an encoder is open");
  CHECK(finish(without) == "encodeWait without an event");
}

TEST_CASE("a debug group that was never pushed cannot be popped") {
  Commands gpu;
  LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  commands->popDebugGroup();

  CHECK(finish(commands).empty());
  CHECK(log.contains("popDebugGroup without a matching pushDebugGroup"));
}

TEST_CASE("calls on null do nothing") {
  // Volatile, so that the compiler does not see through it.
  MTL::CommandBuffer* volatile commands = nullptr;
  MTL::ComputeCommandEncoder* volatile encoder = nullptr;
  MTL::CommandQueue* volatile queue = nullptr;

  commands->commit();
  commands->waitUntilCompleted();
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();

  CHECK(queue->commandBuffer() == nullptr);
  CHECK(commands->status() == MTL::CommandBufferStatusNotEnqueued);
  CHECK(commands->error() == nullptr);
}

}  // namespace
}  // namespace pewter::driver::test
