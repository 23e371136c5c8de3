#include <doctest/doctest.h>

#include "tests/metal/driver/command_support.h"
#include "tests/support/log_capture.h"

namespace pewter::driver::test {
namespace {

using pewter::test::LogCapture;
using Values = std::vector<std::uint32_t>;

/// The error of a command buffer whose one encoder is used by `record`; it must also be in the log,
/// and a command buffer after it must work.
template <typename Record>
std::string error_of(Commands& gpu, Record record) {
  LogCapture log;
  auto values = gpu.buffer({0});
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  record(encoder);
  encoder->endEncoding();
  const std::string error = finish(commands);
  CHECK(log.contains("validation: " + error));

  MTL::CommandBuffer* next = gpu.queue()->commandBuffer();
  gpu.encode(next, "add_one", values.get());
  CHECK(finish(next) == "");
  CHECK(values_of(values.get()) == Values{1});
  return error;
}

const MTL::Size kOne(1, 1, 1);

TEST_CASE("a dispatch needs a pipeline") {
  Commands gpu;
  CHECK(error_of(gpu, [](MTL::ComputeCommandEncoder* encoder) {
          encoder->dispatchThreads(kOne, kOne);
        }) == "dispatchThreads without a compute pipeline state");
  CHECK(error_of(gpu, [](MTL::ComputeCommandEncoder* encoder) {
          encoder->setComputePipelineState(nullptr);
        }) == "setComputePipelineState without a pipeline");
}

TEST_CASE("an unbound buffer is named with its kernel and index") {
  Commands gpu;
  auto values = gpu.buffer({0});
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setComputePipelineState(gpu.pipeline("add_both"));
          encoder->setBuffer(values.get(), 0, 0);
          encoder->setBuffer(nullptr, 0, 3);
          encoder->setBuffer(values.get(), 0, 30);
          encoder->dispatchThreads(kOne, kOne);
        }) == "kernel 'add_both' has no buffer for parameter 'second' at index 3");
}

TEST_CASE("a buffer that was taken away is missing") {
  Commands gpu;
  auto values = gpu.buffer({0});
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setComputePipelineState(gpu.pipeline("add_one"));
          encoder->setBuffer(values.get(), 0, 0);
          encoder->dispatchThreads(kOne, kOne);
          encoder->setBuffer(nullptr, 0, 0);
          encoder->dispatchThreads(kOne, kOne);
        }) == "kernel 'add_one' has no buffer for parameter 'values' at index 0");
  CHECK(values_of(values.get()) == Values{0});
}

TEST_CASE("a reference needs a buffer that holds the whole object") {
  Commands gpu;
  auto values = gpu.buffer(Values(9));
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setComputePipelineState(gpu.pipeline("read_wide"));
          encoder->setBuffer(values.get(), 0, 0);
          encoder->setBuffer(values.get(), 8, 1);
          encoder->dispatchThreads(kOne, kOne);
        }) == "kernel 'read_wide' has 28 bytes for parameter 'wide' of 32 bytes at index 1");
}

TEST_CASE("offsets past the end are refused") {
  Commands gpu;
  auto values = gpu.buffer(Values(4));
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBuffer(values.get(), 17, 2);
        }) == "setBuffer at index 2: offset 17 is past the end of a buffer of 16 bytes");
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBuffer(values.get(), 0, 2);
          encoder->setBufferOffset(20, 2);
        }) == "setBufferOffset at index 2: offset 20 is past the end of a buffer of 16 bytes");
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBufferOffset(4, 2);
        }) == "setBufferOffset at index 2, where no buffer is bound");
}

TEST_CASE("indices past the last slot are refused") {
  Commands gpu;
  auto values = gpu.buffer({0});
  const std::uint32_t number = 1;
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBuffer(values.get(), 0, 31);
        }) == "setBuffer at index 31, limit 30");
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBytes(&number, 4, 31);
        }) == "setBytes at index 31, limit 30");
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setThreadgroupMemoryLength(16, 31);
        }) == "setThreadgroupMemoryLength at index 31, limit 30");
}

TEST_CASE("too many bytes, or some at no place, cannot be set directly") {
  Commands gpu;
  const std::vector<std::byte> bytes(4097);
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBytes(bytes.data(), bytes.size(), 1);
        }) == "setBytes of 4097 bytes at index 1, limit 4096");
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setBytes(nullptr, 4, 1);
        }) == "setBytes at index 1 without bytes");
}

TEST_CASE("threadgroups that are empty or too large are refused") {
  Commands gpu;
  auto values = gpu.buffer({0});
  const auto dispatch = [&](const char* kernel, MTL::Size group) {
    return error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
      encoder->setComputePipelineState(gpu.pipeline(kernel));
      encoder->setBuffer(values.get(), 0, 0);
      encoder->dispatchThreadgroups(kOne, group);
    });
  };
  CHECK(dispatch("add_one", MTL::Size(1025, 1, 1)) ==
        "threadgroup of 1025 x 1 x 1 threads, but kernel 'add_one' needs 1 to 1024 threads");
  CHECK(dispatch("add_one", MTL::Size(32, 32, 2)) ==
        "threadgroup of 32 x 32 x 2 threads, but kernel 'add_one' needs 1 to 1024 threads");
  CHECK(dispatch("add_one", MTL::Size(0, 1, 1)) ==
        "threadgroup of 0 x 1 x 1 threads, but kernel 'add_one' needs 1 to 1024 threads");
  CHECK(dispatch("add_one", MTL::Size(std::size_t(1) << 63, 2, 1)).find("needs 1 to 1024") !=
        std::string::npos);
  CHECK(dispatch("at_most_64", MTL::Size(65, 1, 1)) ==
        "threadgroup of 65 x 1 x 1 threads, but kernel 'at_most_64' needs 1 to 64 threads");
}

TEST_CASE("threadgroup memory that is missing or too much is refused") {
  Commands gpu;
  auto values = gpu.buffer({0});
  const auto dispatch = [&](std::size_t first, std::size_t second) {
    return error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
      encoder->setComputePipelineState(gpu.pipeline("reverse_groups"));
      encoder->setBuffer(values.get(), 0, 0);
      encoder->setThreadgroupMemoryLength(first, 0);
      encoder->setThreadgroupMemoryLength(second, 1);
      encoder->dispatchThreads(kOne, kOne);
    });
  };
  CHECK(dispatch(16, 0) ==
        "kernel 'reverse_groups' has no threadgroup memory for parameter 'second' at index 1");
  CHECK(dispatch(16384, 16400) ==
        "kernel 'reverse_groups' needs 32784 bytes of threadgroup memory, limit 32768");
  CHECK(dispatch(16, 32769) == "setThreadgroupMemoryLength of 32769 bytes at index 1, limit 32768");
}

TEST_CASE("grids beyond 32 bits are refused") {
  Commands gpu;
  auto values = gpu.buffer({0});
  auto arguments = gpu.buffer({1, 0xffffffff, 1});
  const auto dispatch = [&](auto encode) {
    return error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
      encoder->setComputePipelineState(gpu.pipeline("add_one"));
      encoder->setBuffer(values.get(), 0, 0);
      encode(encoder);
    });
  };
  CHECK(dispatch([](MTL::ComputeCommandEncoder* encoder) {
          encoder->dispatchThreads(MTL::Size(1, 4294967296, 1), kOne);
        }) == "grid of kernel 'add_one' has 4294967296 threads along an axis, limit 4294967295");
  CHECK(dispatch([](MTL::ComputeCommandEncoder* encoder) {
          encoder->dispatchThreadgroups(MTL::Size(67108864, 1, 1), MTL::Size(64, 1, 1));
        }) == "grid of kernel 'add_one' has 4294967296 threads along an axis, limit 4294967295");

  const LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(gpu.pipeline("add_one"));
  encoder->setBuffer(values.get(), 0, 0);
  encoder->dispatchThreadgroups(arguments.get(), 0, MTL::Size(1, 2, 1));
  encoder->endEncoding();
  CHECK(finish(commands) ==
        "indirect grid of kernel 'add_one' has 8589934590 threads along an axis, limit 4294967295");
}

TEST_CASE("an indirect buffer must hold its arguments") {
  Commands gpu;
  auto values = gpu.buffer(Values(4, 1));
  const auto dispatch = [&](const MTL::Buffer* arguments, std::size_t offset) {
    return error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
      encoder->setComputePipelineState(gpu.pipeline("add_one"));
      encoder->setBuffer(values.get(), 0, 0);
      encoder->dispatchThreadgroups(arguments, offset, kOne);
    });
  };
  const std::string rest = "; the offset must be a multiple of 4";
  CHECK(dispatch(values.get(), 8) ==
        "dispatchThreadgroups reads 12 bytes at offset 8 of an indirect buffer of 16 bytes" + rest);
  CHECK(dispatch(values.get(), 2) ==
        "dispatchThreadgroups reads 12 bytes at offset 2 of an indirect buffer of 16 bytes" + rest);
  CHECK(dispatch(nullptr, 0) ==
        "dispatchThreadgroups reads 12 bytes at offset 0 of an indirect buffer of 0 bytes" + rest);
}

TEST_CASE("nothing can be encoded after endEncoding") {
  Commands gpu;
  auto values = gpu.buffer({0});
  LogCapture log;
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  gpu.encode(commands, "add_one", values.get());
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->endEncoding();
  encoder->setBuffer(values.get(), 0, 0);
  encoder->dispatchThreads(kOne, kOne);

  CHECK(finish(commands) == "setBuffer after endEncoding");
  CHECK(log.contains("validation: dispatchThreads after endEncoding"));
  CHECK(values_of(values.get()) == Values{0});
}

TEST_CASE("objects of another class are refused") {
  Commands gpu;
  auto values = gpu.buffer({0});
  CHECK(error_of(gpu, [&](MTL::ComputeCommandEncoder* encoder) {
          encoder->setComputePipelineState(
              reinterpret_cast<MTL::ComputePipelineState*>(values.get()));
        }) == "setComputePipelineState without a pipeline");
}

}  // namespace
}  // namespace pewter::driver::test
