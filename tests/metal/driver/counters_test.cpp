#include <cstring>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;
using Times = std::vector<std::uint64_t>;

const std::string kSource =
    "kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "  for (int n = 0; n < 1000; ++n) x[i] = x[i] * 0.5f + 1;\n}\n";

NS::SharedPtr<MTL::CounterSampleBuffer> make_samples(const Gpu& gpu, NS::UInteger count) {
  auto descriptor = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
  descriptor->setCounterSet(gpu.device()->counterSets()->object<MTL::CounterSet>(0));
  descriptor->setSampleCount(count);
  auto samples = NS::TransferPtr(gpu.device()->newCounterSampleBuffer(descriptor.get(), nullptr));
  REQUIRE(samples);
  return samples;
}

Times times_of(MTL::CounterSampleBuffer* samples) {
  Times times(samples->sampleCount());
  const NS::Data* data = samples->resolveCounterRange(NS::Range(0, times.size()));
  REQUIRE(data->length() == times.size() * sizeof(std::uint64_t));
  std::memcpy(times.data(), data->mutableBytes(), data->length());
  return times;
}

}  // namespace

TEST_CASE("samples are taken where encoders begin, dispatches stand and encoders end") {
  const Gpu gpu;
  const auto samples = make_samples(gpu, 5);
  const auto pipeline = gpu.pipeline(kSource, "f");
  const auto buffer = gpu.buffer(std::vector<float>(4096));
  auto pass = NS::TransferPtr(MTL::ComputePassDescriptor::alloc()->init());
  auto* attachment = pass->sampleBufferAttachments()->object(0);
  attachment->setSampleBuffer(samples.get());
  attachment->setStartOfEncoderSampleIndex(0);
  attachment->setEndOfEncoderSampleIndex(3);
  MTL::Timestamp before = 0;
  MTL::Timestamp after = 0;
  MTL::Timestamp same = 0;
  gpu.device()->sampleTimestamps(&before, &same);

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder(pass.get());
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(buffer.get(), 0, 0);
  encoder->sampleCountersInBuffer(samples.get(), 1, true);
  encoder->dispatchThreads(size(4096), size(64));
  encoder->sampleCountersInBuffer(samples.get(), 2, true);
  encoder->endEncoding();
  const auto resolved = gpu.buffer(Times(2));
  MTL::BlitCommandEncoder* blit = commands->blitCommandEncoder();
  blit->resolveCounters(samples.get(), NS::Range(1, 2), resolved.get(), 0);
  blit->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  gpu.device()->sampleTimestamps(&after, &same);

  const Times times = times_of(samples.get());
  CHECK(times[0] >= before);
  CHECK(times[1] >= times[0]);
  // 4096 threads cannot have run in no time.
  CHECK(times[2] > times[1]);
  CHECK(times[3] >= times[2]);
  CHECK(times[3] <= after);
  CHECK(times[4] == MTL::CounterErrorValue);
  CHECK(std::memcmp(resolved->contents(), &times[1], 2 * sizeof(std::uint64_t)) == 0);
}

TEST_CASE("a sample past the end fails the command buffer, a range past the end has no data") {
  const Gpu gpu;
  const test::LogCapture log;
  const auto samples = make_samples(gpu, 2);
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->sampleCountersInBuffer(samples.get(), 2, true);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  CHECK(test::text(commands->error()) ==
        "sampleCountersInBuffer at index 2 of a buffer of 2 samples");
  CHECK(samples->resolveCounterRange(NS::Range(1, 2)) == nullptr);
  CHECK(log.contains("resolveCounterRange: samples 1 to 3 of 2"));
}

}  // namespace pewter
