#include <doctest/doctest.h>

#include "tests/metal/driver/command_support.h"
#include "tests/support/log_capture.h"

namespace pewter::driver::test {
namespace {

using Values = std::vector<std::uint32_t>;

template <typename Record>
std::string blit(Commands& gpu, Record record) {
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  record(encoder);
  encoder->endEncoding();
  return finish(commands);
}

TEST_CASE("bytes are copied between buffers") {
  Commands gpu;
  auto from = gpu.buffer({1, 2, 3, 4});
  auto to = gpu.buffer({9, 9, 9, 9, 9});

  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromBuffer(from.get(), 4, to.get(), 8, 12);
        }) == "");

  CHECK(values_of(to.get()) == Values{9, 9, 2, 3, 4});
}

TEST_CASE("bytes are copied within a buffer") {
  Commands gpu;
  auto values = gpu.buffer({1, 2, 3, 4});

  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromBuffer(values.get(), 0, values.get(), 4, 12);
        }) == "");

  CHECK(values_of(values.get()) == Values{1, 1, 2, 3});
}

TEST_CASE("a range is filled with a byte") {
  Commands gpu;
  auto values = gpu.buffer({1, 2, 3});

  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->fillBuffer(values.get(), NS::Range::Make(4, 4), 0xab);
        }) == "");

  CHECK(values_of(values.get()) == Values{1, 0xabababab, 3});
}

TEST_CASE("an empty copy or fill is no mistake") {
  Commands gpu;
  auto values = gpu.buffer({1});
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromBuffer(values.get(), 4, values.get(), 0, 0);
          encoder->fillBuffer(values.get(), NS::Range::Make(4, 0), 1);
        }) == "");
  CHECK(values_of(values.get()) == Values{1});
}

TEST_CASE("copies and kernels run in order") {
  Commands gpu;
  auto values = gpu.buffer({1});
  auto copy = gpu.buffer({0, 0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  for (NS::UInteger i = 0; i < 2; ++i) {
    gpu.encode(commands, "add_one", values.get());
    MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
    encoder->copyFromBuffer(values.get(), 0, copy.get(), i * 4, 4);
    encoder->synchronizeResource(copy.get());
    encoder->endEncoding();
  }

  CHECK(finish(commands) == "");
  CHECK(values_of(copy.get()) == Values{2, 3});
}

TEST_CASE("ranges outside their buffer are refused") {
  Commands gpu;
  const pewter::test::LogCapture log;
  auto small = gpu.buffer({1});
  auto large = gpu.buffer(Values(100));

  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromBuffer(large.get(), 0, small.get(), 0, 8);
        }) == "copyFromBuffer of 8 bytes at offset 0 of a destination buffer of 4 bytes");
  CHECK(blit(gpu,
             [&](MTL::BlitCommandEncoder* encoder) {
               encoder->copyFromBuffer(small.get(), ~NS::UInteger(0), large.get(), 0, 8);
             }) ==
        "copyFromBuffer of 8 bytes at offset 18446744073709551615 of a source buffer of 4 bytes");
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->fillBuffer(small.get(), NS::Range::Make(2, 4), 0);
        }) == "fillBuffer of 4 bytes at offset 2 of a destination buffer of 4 bytes");
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromBuffer(nullptr, 0, small.get(), 0, 4);
        }) == "copyFromBuffer without a source buffer");
}

TEST_CASE("fences are accepted and samples without a buffer are not") {
  Commands gpu;
  const pewter::test::LogCapture log;
  auto fence = NS::TransferPtr(gpu.device()->newFence());
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->waitForFence(fence.get());
          encoder->updateFence(fence.get());
        }) == "");
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->sampleCountersInBuffer(nullptr, 0, false);
        }) == "sampleCountersInBuffer at index 0 of a buffer of 0 samples");
}

}  // namespace
}  // namespace pewter::driver::test
