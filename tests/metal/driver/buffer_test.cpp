#include "pewter/metal/driver/buffer.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <Metal/Metal.hpp>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/support/log_capture.h"
#include "tests/support/text.h"

namespace {

using pewter::test::LogCapture;
using pewter::test::string;
using pewter::test::text;

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());

  NS::SharedPtr<MTL::Buffer> buffer(
      NS::UInteger length, MTL::ResourceOptions options = MTL::ResourceStorageModeShared) const {
    return NS::TransferPtr(device->newBuffer(length, options));
  }
};

const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Whether one byte can be read; asks the kernel instead of trying.
bool is_readable(const void* address) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

TEST_CASE_FIXTURE(Fixture, "a buffer of any size is zero-filled, aligned and writable to its end") {
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{127}, kPage - 1, kPage, kPage + 1, std::size_t{3} << 20}) {
    CAPTURE(length);
    auto memory = buffer(length);

    REQUIRE(memory);
    auto* bytes = static_cast<unsigned char*>(memory->contents());
    CHECK(memory->length() == length);
    CHECK(reinterpret_cast<std::uintptr_t>(bytes) % 128 == 0);
    CHECK(std::all_of(bytes, bytes + length, [](unsigned char byte) { return byte == 0; }));
    bytes[length - 1] = 1;
    CHECK(memory->allocatedSize() >= length);
  }
}

TEST_CASE_FIXTURE(Fixture, "pages around a large buffer cannot be touched") {
  for (const std::size_t length : {kPage, 5 * kPage, std::size_t{4} << 20}) {
    CAPTURE(length);
    auto memory = buffer(length);
    const auto* bytes = static_cast<const std::byte*>(memory->contents());

    CHECK(is_readable(bytes));
    CHECK_FALSE(is_readable(bytes - 1));
    CHECK_FALSE(is_readable(bytes + length));
  }
}

TEST_CASE_FIXTURE(Fixture, "a buffer can start with a copy of bytes") {
  std::vector<int> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 0);

  auto memory = NS::TransferPtr(device->newBuffer(numbers.data(), numbers.size() * sizeof(int),
                                                  MTL::ResourceStorageModeShared));
  numbers.front() = 7;

  CHECK(static_cast<int*>(memory->contents())[0] == 0);
  CHECK(static_cast<int*>(memory->contents())[2999] == 2999);
}

TEST_CASE_FIXTURE(Fixture, "a buffer can use the caller's pages and tells when it is done") {
  void* pages =
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* freed = nullptr;
  NS::UInteger freed_length = 0;
  auto* memory = device->newBuffer(pages, 2 * kPage, MTL::ResourceStorageModeShared,
                                   [&](void* pointer, NS::UInteger length) {
                                     freed = pointer;
                                     freed_length = length;
                                   });
  CHECK(memory->contents() == pages);

  memory->release();

  CHECK(freed == pages);
  CHECK(freed_length == 2 * kPage);
  munmap(pages, 2 * kPage);
}

TEST_CASE_FIXTURE(Fixture, "memory that is not whole pages is refused") {
  LogCapture log;
  alignas(64) char bytes[64];

  CHECK(device->newBuffer(bytes, 64, MTL::ResourceStorageModeShared, nullptr) == nullptr);

  CHECK(log.contains("are not multiples of the page size"));
}

TEST_CASE_FIXTURE(Fixture, "an empty buffer is refused with a message") {
  LogCapture log;
  CHECK_FALSE(buffer(0));
  CHECK(log.contains("a buffer of 0 bytes cannot be made"));
}

TEST_CASE_FIXTURE(Fixture, "a buffer past the limit is refused with both sizes") {
  LogCapture log;
  const NS::UInteger limit = device->maxBufferLength();

  CHECK_FALSE(buffer(limit + 1));
  CHECK_FALSE(buffer(NS::UIntegerMax));

  CHECK(log.contains("exceeds maxBufferLength of " + std::to_string(limit)));
}

TEST_CASE_FIXTURE(Fixture, "more than the machine has is refused") {
  LogCapture log;
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  for (int number = 0; number < 3; ++number) {
    buffers.push_back(buffer(device->maxBufferLength()));
  }
  CHECK(buffers[0]);
  CHECK_FALSE(buffers[2]);
  CHECK(log.contains("exceed the machine's"));
}

TEST_CASE_FIXTURE(Fixture, "the device counts what is allocated exactly") {
  const NS::UInteger before = device->currentAllocatedSize();

  auto small = buffer(10);
  auto large = buffer(10 * kPage + 1);
  CHECK(device->currentAllocatedSize() == before + small->allocatedSize() + large->allocatedSize());
  CHECK(large->allocatedSize() == 11 * kPage);

  small.reset();
  large.reset();
  CHECK(device->currentAllocatedSize() == before);
}

TEST_CASE_FIXTURE(Fixture, "private storage hides the contents but has an address") {
  auto memory = buffer(64, MTL::ResourceStorageModePrivate);

  CHECK(memory->contents() == nullptr);
  CHECK(memory->gpuAddress() != 0);
  CHECK(memory->storageMode() == MTL::StorageModePrivate);
}

TEST_CASE_FIXTURE(Fixture, "options are read back") {
  auto memory =
      buffer(64, MTL::ResourceStorageModeManaged | MTL::ResourceCPUCacheModeWriteCombined |
                     MTL::ResourceHazardTrackingModeUntracked);

  CHECK(memory->storageMode() == MTL::StorageModeManaged);
  CHECK(memory->cpuCacheMode() == MTL::CPUCacheModeWriteCombined);
  CHECK(memory->hazardTrackingMode() == MTL::HazardTrackingModeUntracked);
  CHECK(buffer(64)->hazardTrackingMode() == MTL::HazardTrackingModeTracked);
  CHECK(memory->gpuAddress() == reinterpret_cast<std::uintptr_t>(memory->contents()));
  CHECK(memory->device() == device.get());
  CHECK(memory->heap() == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "memoryless storage is refused") {
  LogCapture log;
  CHECK_FALSE(buffer(64, MTL::ResourceStorageModeMemoryless));
  CHECK(log.contains("storage mode 3"));
}

TEST_CASE_FIXTURE(Fixture, "a label is kept and replaced") {
  auto memory = buffer(16);
  CHECK(memory->label() == nullptr);

  memory->setLabel(string("weights"));
  CHECK(text(memory->label()) == "weights");
  memory->setLabel(nullptr);
  CHECK(memory->label() == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "emptying a buffer drops its contents") {
  for (const std::size_t length : {std::size_t{16}, 2 * kPage}) {
    auto memory = buffer(length);
    static_cast<char*>(memory->contents())[0] = 1;

    CHECK(memory->setPurgeableState(MTL::PurgeableStateVolatile) == MTL::PurgeableStateNonVolatile);
    CHECK(static_cast<char*>(memory->contents())[0] == 1);
    CHECK(memory->setPurgeableState(MTL::PurgeableStateEmpty) == MTL::PurgeableStateVolatile);
    CHECK(memory->setPurgeableState(MTL::PurgeableStateKeepCurrent) == MTL::PurgeableStateEmpty);
    CHECK(static_cast<char*>(memory->contents())[0] == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "a range past the end is reported") {
  LogCapture log;
  auto memory = buffer(16);

  memory->didModifyRange(NS::Range(0, 16));
  CHECK(log.lines().empty());
  memory->didModifyRange(NS::Range(8, 9));
  CHECK(log.contains("9 bytes from 8 on exceed the buffer's 16"));
}

TEST_CASE_FIXTURE(Fixture, "a released buffer is recognised in later calls") {
  LogCapture log;
  auto* memory = device->newBuffer(16, MTL::ResourceStorageModeShared);
  memory->release();

  CHECK(memory->contents() == nullptr);
  memory->release();

  CHECK(log.contains("MTL::Buffer at"));
  CHECK(log.lines().size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "a heap where a buffer is needed is refused by name") {
  LogCapture log;
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());

  CHECK(reinterpret_cast<MTL::Buffer*>(descriptor.get())->length() == 0);

  CHECK(log.contains("is a MTL::HeapDescriptor, but a MTL::Buffer is needed"));
}

}  // namespace
