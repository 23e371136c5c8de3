#include "pewter/metal/driver/device.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>
#include <cstdlib>
#include <string>

#include "tests/support/text.h"

namespace {

using pewter::test::text;

struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
};

/// A null pointer that the compiler does not see through.
template <class T>
T* null_object() {
  static T* volatile pointer = nullptr;
  return pointer;
}

TEST_CASE_FIXTURE(Pool, "there is one device, and both ways of asking give it") {
  auto all = NS::TransferPtr(MTL::CopyAllDevices());

  REQUIRE(all->count() == 1);
  CHECK(all->object<MTL::Device>(0) == device.get());
  CHECK(MTL::CreateSystemDefaultDevice() == device.get());
}

TEST_CASE_FIXTURE(Pool, "PEWTER_DEVICE=none leaves no device") {
  setenv("PEWTER_DEVICE", "none", 1);
  auto all = NS::TransferPtr(MTL::CopyAllDevices());
  CHECK(MTL::CreateSystemDefaultDevice() == nullptr);
  CHECK(all->count() == 0);
  unsetenv("PEWTER_DEVICE");
}

TEST_CASE_FIXTURE(Pool, "the device names itself and its processor") {
  CHECK(text(device->name()).find("pewter (") == 0);
  CHECK(text(device->architecture()->name()).find("pewter_") == 0);
  CHECK(device->registryID() != 0);
}

TEST_CASE_FIXTURE(Pool, "limits are those of Apple silicon") {
  const MTL::Size threads = device->maxThreadsPerThreadgroup();
  CHECK(threads.width == 1024);
  CHECK(threads.height == 1024);
  CHECK(threads.depth == 1024);
  CHECK(device->maxThreadgroupMemoryLength() == 32768);
  CHECK(device->hasUnifiedMemory());
  CHECK(device->argumentBuffersSupport() == MTL::ArgumentBuffersTier2);
}

TEST_CASE_FIXTURE(Pool, "memory limits follow the machine") {
  const auto memory = NS::ProcessInfo::processInfo()->physicalMemory();
  CHECK(device->recommendedMaxWorkingSetSize() <= memory);
  CHECK(device->recommendedMaxWorkingSetSize() > 0);
  CHECK(device->maxBufferLength() <= device->recommendedMaxWorkingSetSize());
}

TEST_CASE_FIXTURE(Pool, "families go up to Apple8 and Metal3") {
  for (auto family : {MTL::GPUFamilyApple7, MTL::GPUFamilyApple8, MTL::GPUFamilyMac2,
                      MTL::GPUFamilyCommon3, MTL::GPUFamilyMetal3}) {
    CHECK(device->supportsFamily(family));
  }
  for (auto family : {MTL::GPUFamilyApple9, MTL::GPUFamilyMetal4, MTL::GPUFamilyMacCatalyst1}) {
    CHECK_FALSE(device->supportsFamily(family));
  }
}

TEST_CASE_FIXTURE(Pool, "too many releases do not end the device") {
  for (int round = 0; round < 5; ++round) {
    device->release();
  }
  CHECK(device->hasUnifiedMemory());
}

TEST_CASE("a null device gives nothing") {
  auto* device = null_object<MTL::Device>();
  NS::Error* error = nullptr;

  CHECK(device->name()->utf8String() == nullptr);
  CHECK(device->maxThreadsPerThreadgroup().width == 0);
  CHECK(device->newBuffer(16, MTL::ResourceStorageModeShared)->contents() == nullptr);
  CHECK(device->newLibrary(MTLSTR(""), nullptr, &error)->newFunction(MTLSTR("f")) == nullptr);
  CHECK(device->newHeap(nullptr)->usedSize() == 0);
  CHECK(error == nullptr);
}

TEST_CASE_FIXTURE(Pool, "timestamps of host and device come from one clock") {
  MTL::Timestamp first[2] = {0, 0};
  MTL::Timestamp second[2] = {0, 0};
  device->sampleTimestamps(&first[0], &first[1]);
  device->sampleTimestamps(&second[0], &second[1]);

  CHECK(first[0] == first[1]);
  CHECK(second[0] >= first[0]);
}

TEST_CASE_FIXTURE(Pool, "a sample buffer needs the set of timestamps and a number of samples") {
  auto descriptor = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
  NS::Error* error = nullptr;

  CHECK(device->counterSets()->count() == 1);
  CHECK(device->supportsCounterSampling(MTL::CounterSamplingPointAtDispatchBoundary));
  CHECK_FALSE(device->supportsCounterSampling(MTL::CounterSamplingPointAtDrawBoundary));
  CHECK(device->newCounterSampleBuffer(descriptor.get(), &error) == nullptr);
  CHECK(text(error->domain()) == "MTLCounterErrorDomain");
  CHECK(text(error) == "the device has no such counter set, only timestamps");
  descriptor->setCounterSet(device->counterSets()->object<MTL::CounterSet>(0));
  CHECK(device->newCounterSampleBuffer(descriptor.get(), &error) == nullptr);
  CHECK(text(error) == "0 samples, where 1 to 4096 are possible");
}

}  // namespace
