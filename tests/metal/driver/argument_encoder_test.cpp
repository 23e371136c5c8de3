#include "pewter/metal/driver/argument_encoder.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>
#include <cstdint>
#include <cstring>

#include "tests/support/log_capture.h"

namespace {

using pewter::test::LogCapture;

/// What a kernel would declare, and what the descriptors below describe.
struct Arguments {
  std::uint64_t input;
  float scale;
  std::uint64_t outputs[2];
  alignas(16) float color[4];
};

MTL::ArgumentDescriptor* describe(MTL::DataType type, NS::UInteger index, NS::UInteger length = 0) {
  auto* descriptor = MTL::ArgumentDescriptor::argumentDescriptor();
  descriptor->setDataType(type);
  descriptor->setIndex(index);
  descriptor->setArrayLength(length);
  return descriptor;
}

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::SharedPtr<MTL::ArgumentEncoder> encoder;
  NS::SharedPtr<MTL::Buffer> target;
  NS::SharedPtr<MTL::Buffer> data;

  Fixture() {
    const NS::Object* descriptors[] = {
        describe(MTL::DataTypeFloat4, 4), describe(MTL::DataTypePointer, 0),
        describe(MTL::DataTypeFloat, 1), describe(MTL::DataTypePointer, 2, 2)};
    encoder = NS::TransferPtr(device->newArgumentEncoder(NS::Array::array(descriptors, 4)));
    REQUIRE(encoder);
    target = buffer(2 * sizeof(Arguments));
    data = buffer(256);
  }

  NS::SharedPtr<MTL::Buffer> buffer(NS::UInteger length) const {
    return NS::TransferPtr(device->newBuffer(length, MTL::ResourceStorageModeShared));
  }
};

TEST_CASE_FIXTURE(Fixture, "members lie where a C compiler puts them") {
  CHECK(encoder->encodedLength() == sizeof(Arguments));
  CHECK(encoder->alignment() == alignof(Arguments));
}

TEST_CASE_FIXTURE(Fixture, "buffers are stored as addresses and values as bytes") {
  encoder->setArgumentBuffer(target.get(), 0);
  encoder->setBuffer(data.get(), 16, 0);
  const MTL::Buffer* outputs[] = {data.get(), nullptr};
  const NS::UInteger offsets[] = {32, 0};
  encoder->setBuffers(outputs, offsets, NS::Range(2, 2));
  const float scale = 0.5f;
  std::memcpy(encoder->constantData(1), &scale, sizeof scale);

  const auto* arguments = static_cast<const Arguments*>(target->contents());
  CHECK(arguments->input == data->gpuAddress() + 16);
  CHECK(arguments->outputs[0] == data->gpuAddress() + 32);
  CHECK(arguments->outputs[1] == 0);
  CHECK(arguments->scale == 0.5f);
  CHECK(encoder->constantData(4) == arguments->color);
}

TEST_CASE_FIXTURE(Fixture, "elements of an array of argument buffers follow each other") {
  encoder->setArgumentBuffer(target.get(), 0, 1);
  encoder->setBuffer(data.get(), 0, 0);

  CHECK(static_cast<const Arguments*>(target->contents())[1].input == data->gpuAddress());
}

TEST_CASE_FIXTURE(Fixture, "mistakes are reported and write nothing") {
  LogCapture log;
  encoder->setBuffer(data.get(), 0, 0);
  CHECK(log.contains("the encoder has no argument buffer"));

  encoder->setArgumentBuffer(target.get(), sizeof(Arguments) + 16);
  CHECK(log.contains("exceed the buffer's 96 bytes"));

  encoder->setArgumentBuffer(target.get(), 0);
  encoder->setBuffer(data.get(), 0, 9);
  CHECK(log.contains("there is no argument with index 9"));
  encoder->setBuffer(data.get(), 0, 1);
  CHECK(log.contains("argument 1 is a value, not a buffer"));
  CHECK(encoder->constantData(0) == nullptr);
  CHECK(log.contains("argument 0 is a buffer, not a value"));
  encoder->setBuffer(data.get(), 257, 0);
  CHECK(log.contains("offset 257 exceeds the buffer's 256 bytes"));
}

TEST_CASE_FIXTURE(Fixture, "types without a plain layout are refused") {
  LogCapture log;
  auto* arguments = NS::Array::array(describe(MTL::DataTypeRenderPipeline, 0));

  CHECK(device->newArgumentEncoder(arguments) == nullptr);

  CHECK(log.contains("arguments of data type 78 are not supported yet"));
}

}  // namespace
