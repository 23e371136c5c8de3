#include <doctest/doctest.h>
#include <pewter/errors.h>

#include <string>
#include <vector>

#include "pewter/runtime/device.h"
#include "tests/runtime/memory_fixture.h"

using pewter::OutOfMemoryError;
using pewter::runtime::Buffer;
using pewter::test::kMiB;
using pewter::test::MemoryFixture;

namespace {

/// The text of the OutOfMemoryError that allocating `size` bytes must throw.
std::string refusal(pewter::runtime::Allocator& memory, std::size_t size) {
  try {
    static_cast<void>(memory.allocate(size));
  } catch (const OutOfMemoryError& error) {
    return error.what();
  }
  FAIL("the allocation was not refused");
  return "";
}

}  // namespace

TEST_CASE_FIXTURE(MemoryFixture, "the hard limit counts everything the device has allocated") {
  const auto foreign = NS::TransferPtr(
      pewter::runtime::device()->newBuffer(50 * kMiB, MTL::ResourceStorageModeShared));
  memory.set_hard_limit(memory.driver_total() + 10 * kMiB);
  const std::size_t active = memory.active();

  const std::string text = refusal(memory, 20 * kMiB);
  CHECK(text.find("out of memory") != std::string::npos);
  CHECK(text.find("20.00 MiB") != std::string::npos);
  CHECK(memory.active() == active);
  CHECK(memory.allocate(10 * kMiB));
}

TEST_CASE_FIXTURE(MemoryFixture, "cached buffers make room under the hard limit") {
  {
    const Buffer one = memory.allocate(30 * kMiB);
    const Buffer two = memory.allocate(30 * kMiB);
    const Buffer three = memory.allocate(30 * kMiB);
  }
  memory.set_hard_limit(memory.driver_total() + 10 * kMiB);

  // Just enough goes: one of the three.
  const Buffer buffer = memory.allocate(40 * kMiB);
  CHECK(memory.cached() == 60 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "past the hard limit even a cached buffer is refused") {
  const Buffer held = memory.allocate(100 * kMiB);
  {
    const Buffer cached = memory.allocate(10 * kMiB);
  }
  memory.set_hard_limit(50 * kMiB);
  refusal(memory, 10 * kMiB);
  memory.set_hard_limit(0);
  CHECK(memory.allocate(10 * kMiB));
}

TEST_CASE_FIXTURE(MemoryFixture, "callbacks get a chance to free memory before a refusal") {
  static Buffer spare;
  static bool armed = true;
  spare = memory.allocate(40 * kMiB);
  memory.add_out_of_memory_callback([] {
    if (armed) {
      spare.reset();
    }
  });
  memory.set_hard_limit(memory.driver_total() + kMiB);

  CHECK(memory.allocate(40 * kMiB));
  CHECK(!spare);
  armed = false;
}

TEST_CASE_FIXTURE(MemoryFixture, "a strict limit refuses, a relaxed one does not") {
  const std::size_t active = memory.active();
  memory.set_memory_limit(active + 10 * kMiB, false);
  const std::string text = refusal(memory, 20 * kMiB);
  CHECK(text.find("20971520") != std::string::npos);
  CHECK(memory.active() == active);

  // Setting it again without saying strict is relaxed.
  memory.set_memory_limit(active + 10 * kMiB, true);
  CHECK(memory.allocate(20 * kMiB).length() == 20 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "a strict limit reclaims the cache before it refuses") {
  const std::size_t active = memory.active();
  {
    const Buffer cached = memory.allocate(30 * kMiB);
  }
  memory.set_memory_limit(active + 40 * kMiB, false);
  const Buffer buffer = memory.allocate(20 * kMiB);
  CHECK(memory.active() == active + 20 * kMiB);
  CHECK(memory.cached() == 0);
}

TEST_CASE_FIXTURE(MemoryFixture, "a strict limit counts the whole of a reused buffer") {
  const std::size_t active = memory.active();
  {
    const Buffer cached = memory.allocate(20 * kMiB);
  }
  memory.set_memory_limit(active + 20 * kMiB, false);
  refusal(memory, 20 * kMiB);
  CHECK(memory.cached() == 20 * kMiB);
  memory.set_memory_limit(active + 20 * kMiB + 1, false);
  CHECK(memory.allocate(20 * kMiB));
}

TEST_CASE_FIXTURE(MemoryFixture, "more than the machine can hold is refused without a crash") {
  const std::size_t most = pewter::runtime::device_info().max_buffer_length;
  memory.set_hard_limit(0);
  std::vector<Buffer> buffers;
  const std::size_t before = memory.active();
  std::string text;
  while (text.empty() && buffers.size() < 8) {
    try {
      buffers.push_back(memory.allocate(most));
    } catch (const OutOfMemoryError& error) {
      text = error.what();
    }
  }
  CHECK(text.find("out of memory") != std::string::npos);
  CHECK(text.find("without swapping") != std::string::npos);
  CHECK(memory.active() == before + buffers.size() * most);
}
