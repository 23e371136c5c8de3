#include "pewter/metal/driver/heap.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>

#include "pewter/metal/driver/heap_space.h"
#include "tests/support/log_capture.h"

namespace {

using pewter::driver::HeapSpace;
using pewter::test::LogCapture;

constexpr NS::UInteger kSize = 1 << 20;

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());

  NS::SharedPtr<MTL::Heap> heap(NS::UInteger size = kSize,
                                MTL::HeapType type = MTL::HeapTypeAutomatic) const {
    auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
    descriptor->setSize(size);
    descriptor->setStorageMode(MTL::StorageModeShared);
    descriptor->setType(type);
    return NS::TransferPtr(device->newHeap(descriptor.get()));
  }
};

NS::SharedPtr<MTL::Buffer> take(MTL::Heap* heap, NS::UInteger length) {
  return NS::TransferPtr(heap->newBuffer(length, MTL::ResourceStorageModeShared));
}

TEST_CASE_FIXTURE(Fixture, "buffers of a heap share its memory without overlapping") {
  auto memory = heap();

  auto first = take(memory.get(), 1000);
  auto second = take(memory.get(), 5000);

  CHECK(first->heap() == memory.get());
  CHECK(first->heapOffset() % 256 == 0);
  CHECK(second->gpuAddress() - first->gpuAddress() == second->heapOffset() - first->heapOffset());
  CHECK(second->heapOffset() >= first->heapOffset() + 1000);
}

TEST_CASE_FIXTURE(Fixture, "the heap knows what is used and what is left") {
  auto memory = heap();
  CHECK(memory->size() == kSize);
  CHECK(memory->usedSize() == 0);
  CHECK(memory->maxAvailableSize(256) == kSize);

  auto first = take(memory.get(), 1000);
  CHECK(memory->usedSize() == 1024);
  CHECK(memory->maxAvailableSize(256) == kSize - 1024);
  CHECK(memory->maxAvailableSize(4096) == kSize - 4096);

  first.reset();
  CHECK(memory->usedSize() == 0);
  CHECK(memory->maxAvailableSize(256) == kSize);
}

TEST_CASE_FIXTURE(Fixture, "a full heap gives no buffer and says what was left") {
  LogCapture log;
  auto memory = heap();
  auto most = take(memory.get(), kSize - 256);

  CHECK_FALSE(take(memory.get(), 257));

  CHECK(log.contains("buffer of 257 bytes exceeds the heap's largest gap of 256"));
  CHECK(take(memory.get(), 256));
}

TEST_CASE_FIXTURE(Fixture, "a buffer keeps its heap alive") {
  auto memory = heap();
  auto buffer = take(memory.get(), 256);

  memory.reset();

  static_cast<char*>(buffer->contents())[255] = 1;
  CHECK(buffer->heap()->usedSize() == 256);
}

TEST_CASE_FIXTURE(Fixture, "an aliasable buffer's memory is given to the next one") {
  auto memory = heap(512);
  auto first = take(memory.get(), 512);

  first->makeAliasable();
  CHECK(first->isAliasable());
  auto second = take(memory.get(), 512);

  REQUIRE(second);
  CHECK(second->contents() == first->contents());
  first.reset();
  CHECK(memory->usedSize() == 512);
}

TEST_CASE_FIXTURE(Fixture, "a placement heap puts buffers where it is told, overlapping or not") {
  auto memory = heap(kSize, MTL::HeapTypePlacement);

  auto first = NS::TransferPtr(memory->newBuffer(1024, MTL::ResourceStorageModeShared, 512));
  auto second = NS::TransferPtr(memory->newBuffer(1024, MTL::ResourceStorageModeShared, 768));

  CHECK(first->heapOffset() == 512);
  CHECK(second->gpuAddress() - first->gpuAddress() == 256);
}

TEST_CASE_FIXTURE(Fixture, "a placement heap refuses what does not fit or is not aligned") {
  LogCapture log;
  auto memory = heap(kSize, MTL::HeapTypePlacement);

  CHECK(memory->newBuffer(16, MTL::ResourceStorageModeShared) == nullptr);
  CHECK(memory->newBuffer(16, MTL::ResourceStorageModeShared, 100) == nullptr);
  CHECK(memory->newBuffer(257, MTL::ResourceStorageModeShared, kSize - 256) == nullptr);
  CHECK(memory->newBuffer(16, MTL::ResourceStorageModeShared, NS::UIntegerMax - 255) == nullptr);

  CHECK(log.lines().size() == 4);
  CHECK(log.contains("exceed the heap's 1048576"));
}

TEST_CASE_FIXTURE(Fixture, "options other than the heap's are refused") {
  LogCapture log;
  auto memory = heap();

  CHECK(memory->newBuffer(16, MTL::ResourceStorageModePrivate) == nullptr);

  CHECK(log.contains("another storage or cache mode than the heap's"));
}

TEST_CASE_FIXTURE(Fixture, "descriptors start as Metal's and their options are one number") {
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  CHECK(descriptor->storageMode() == MTL::StorageModePrivate);
  CHECK(descriptor->type() == MTL::HeapTypeAutomatic);

  descriptor->setResourceOptions(MTL::ResourceStorageModeShared |
                                 MTL::ResourceHazardTrackingModeTracked);
  CHECK(descriptor->storageMode() == MTL::StorageModeShared);
  CHECK(descriptor->hazardTrackingMode() == MTL::HazardTrackingModeTracked);

  auto copy = NS::TransferPtr(descriptor->copy());
  descriptor->setStorageMode(MTL::StorageModeManaged);
  CHECK(copy->resourceOptions() ==
        (MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeTracked));
}

TEST_CASE_FIXTURE(Fixture, "buffers of a heap are tracked together with it") {
  CHECK(take(heap().get(), 16)->hazardTrackingMode() == MTL::HazardTrackingModeUntracked);
}

TEST_CASE_FIXTURE(Fixture, "heaps count as the device's memory and their buffers do not again") {
  const NS::UInteger before = device->currentAllocatedSize();

  auto memory = heap();
  auto buffer = take(memory.get(), 4096);

  CHECK(device->currentAllocatedSize() == before + memory->currentAllocatedSize());
}

TEST_CASE_FIXTURE(Fixture, "an empty heap or one past the machine is refused") {
  LogCapture log;
  CHECK_FALSE(heap(0));
  CHECK_FALSE(heap(NS::UIntegerMax));
  CHECK(log.lines().size() == 2);
}

TEST_CASE("space is given back in any order and merged") {
  HeapSpace space(1000);
  const auto first = space.take(300, 1);
  const auto second = space.take(300, 1);
  const auto third = space.take(300, 1);
  REQUIRE((first && second && third));
  CHECK_FALSE(space.take(101, 1));

  space.give_back(*first, 300);
  space.give_back(*third, 300);
  CHECK(space.largest(1) == 400);
  space.give_back(*second, 300);

  CHECK(space.used() == 0);
  CHECK(space.largest(1) == 1000);
}

TEST_CASE("the smallest gap that has room is taken") {
  HeapSpace space(1000);
  const auto first = space.take(100, 1);
  const auto wall = space.take(10, 1);
  REQUIRE((first && wall));
  space.give_back(*first, 100);

  CHECK(space.take(90, 1) == 0);
}

}  // namespace
