#include "pewter/metal/driver/residency_set.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>

#include "tests/support/text.h"

namespace {

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::SharedPtr<MTL::ResidencySet> set;

  Fixture() {
    auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
    descriptor->setLabel(MTLSTR("weights"));
    NS::Error* error = nullptr;
    set = NS::TransferPtr(device->newResidencySet(descriptor.get(), &error));
    REQUIRE(set);
    CHECK(error == nullptr);
  }
};

TEST_CASE_FIXTURE(Fixture, "additions and removals count from the commit on") {
  auto buffer = NS::TransferPtr(device->newBuffer(4096, MTL::ResourceStorageModeShared));

  set->addAllocation(buffer.get());
  CHECK(set->containsAllocation(buffer.get()));
  CHECK(set->allocatedSize() == 0);
  set->commit();
  CHECK(set->allocatedSize() == buffer->allocatedSize());

  set->removeAllocation(buffer.get());
  CHECK(set->allocatedSize() == buffer->allocatedSize());
  set->commit();
  CHECK(set->allocatedSize() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a set holds each allocation once and retains it") {
  auto buffer = NS::TransferPtr(device->newBuffer(16, MTL::ResourceStorageModeShared));
  const MTL::Allocation* both[] = {buffer.get(), buffer.get()};

  set->addAllocations(both, 2);
  CHECK(set->allocationCount() == 1);
  CHECK(buffer->retainCount() == 2);
  CHECK(set->allAllocations()->object<MTL::Buffer>(0) == buffer.get());

  set->removeAllAllocations();
  CHECK(set->allocationCount() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a set has its descriptor's label") {
  CHECK(pewter::test::text(set->label()) == "weights");
  CHECK(set->device() == device.get());
}

}  // namespace
