#include "pewter/runtime/allocator.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pewter/runtime/device.h"
#include "tests/runtime/memory_fixture.h"

using pewter::runtime::Buffer;
using pewter::runtime::page_size;
using pewter::test::kMiB;
using pewter::test::MemoryFixture;

TEST_CASE_FIXTURE(MemoryFixture, "shares of a buffer keep it until the last one goes") {
  const std::size_t before = memory.active();
  Buffer first = memory.allocate(1000);
  Buffer second = first;
  CHECK(!first.unique());
  CHECK(first == second);

  first.reset();
  CHECK(memory.active() == before + 1000);
  CHECK(second.unique());
  second = Buffer();
  CHECK(memory.active() == before);
}

TEST_CASE_FIXTURE(MemoryFixture, "the host and Metal see the same bytes") {
  const Buffer buffer = memory.allocate(kMiB);
  std::memset(buffer.contents(), 7, kMiB);
  CHECK(buffer.metal()->length() == buffer.length());
  CHECK(static_cast<unsigned char*>(buffer.metal()->contents())[kMiB - 1] == 7);
}

TEST_CASE_FIXTURE(MemoryFixture, "requests above a page are rounded to pages, others are not") {
  const std::size_t page = page_size();
  CHECK(memory.allocate(1).length() == 1);
  CHECK(memory.allocate(page - 1).length() == page - 1);
  CHECK(memory.allocate(page).length() == page);
  CHECK(memory.allocate(page + 1).length() == 2 * page);
}

TEST_CASE_FIXTURE(MemoryFixture, "small buffers come from one heap while it has room") {
  const Buffer small = memory.allocate(255);
  CHECK(small.metal()->heap() != nullptr);
  CHECK(memory.allocate(256).metal()->heap() == nullptr);

  std::vector<Buffer> many;
  for (int i = 0; i < 5000; ++i) {
    many.push_back(memory.allocate(200));
  }
  CHECK(many.back().metal()->heap() == nullptr);
}

TEST_CASE_FIXTURE(MemoryFixture, "a thread reuses what another one freed") {
  const Buffer kept = memory.allocate(10 * kMiB);
  Buffer buffer = memory.allocate(20 * kMiB);
  MTL::Buffer* metal = buffer.metal();
  std::thread([&] { buffer.reset(); }).join();
  CHECK(memory.cached() == 20 * kMiB);
  CHECK(memory.allocate(20 * kMiB).metal() == metal);

  // Also while the thread that freed it still lives.
  const std::size_t hits = memory.counts().hits;
  buffer = memory.allocate(20 * kMiB);
  buffer.reset();
  std::thread([&] { CHECK(memory.allocate(20 * kMiB - 5000).metal() == metal); }).join();
  CHECK(memory.counts().hits == hits + 2);
}

TEST_CASE_FIXTURE(MemoryFixture, "adopted memory is active while wrapped and never cached") {
  const std::size_t size = 4 * page_size();
  void* memory_of_ours = std::aligned_alloc(page_size(), size);
  const std::size_t active = memory.active();
  const std::size_t cached = memory.cached();
  bool released = false;
  {
    const Buffer buffer = memory.adopt(memory_of_ours, size, [&] { released = true; });
    REQUIRE(buffer);
    CHECK(buffer.contents() == memory_of_ours);
    CHECK(memory.active() == active + size);
    CHECK(!released);
  }
  CHECK(released);
  CHECK(memory.active() == active);
  CHECK(memory.cached() == cached);
  std::free(memory_of_ours);
}

TEST_CASE_FIXTURE(MemoryFixture, "memory that is not page aligned is not adopted") {
  std::vector<std::byte> bytes(3 * page_size());
  bool released = false;
  CHECK(!memory.adopt(bytes.data() + 1, page_size() + 1, [&] { released = true; }));
  CHECK(!released);
}

TEST_CASE_FIXTURE(MemoryFixture, "the buffer freed longest ago leaves the cache first") {
  memory.set_cache_limit(100 * kMiB);
  Buffer first = memory.allocate(10 * kMiB);
  Buffer second = memory.allocate(20 * kMiB);
  Buffer third = memory.allocate(30 * kMiB);
  second.reset();
  first.reset();
  third.reset();

  // 60 are cached and 45 may be: the 20 that were freed first are enough.
  memory.set_cache_limit(45 * kMiB);
  const Buffer other = memory.allocate(1);
  CHECK(memory.cached() == 40 * kMiB);
  const std::size_t misses = memory.counts().misses;
  first = memory.allocate(10 * kMiB);
  third = memory.allocate(30 * kMiB);
  CHECK(memory.counts().misses == misses);
}

TEST_CASE_FIXTURE(MemoryFixture, "the cache shrinks to stay under the memory limit") {
  const std::size_t active = memory.active();
  std::vector<Buffer> buffers;
  for (const std::size_t size : {40, 30, 20, 10}) {
    buffers.push_back(memory.allocate(size * kMiB));
  }
  buffers.clear();
  CHECK(memory.cached() == 100 * kMiB);

  // 25 MiB more would pass the limit by 10 MiB; the oldest buffer has 40.
  memory.set_memory_limit(active + 115 * kMiB, true);
  const Buffer buffer = memory.allocate(25 * kMiB);
  CHECK(memory.cached() == 60 * kMiB);
  CHECK(memory.active() == active + 25 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "the whole cache goes when nine tenths of it must") {
  const std::size_t active = memory.active();
  {
    const Buffer one = memory.allocate(60 * kMiB);
    const Buffer two = memory.allocate(40 * kMiB);
  }
  // 100 cached and 50 asked for, 91 of them too many; 60 and then 40 would do.
  memory.set_memory_limit(active + 59 * kMiB, true);
  const Buffer buffer = memory.allocate(50 * kMiB);
  CHECK(memory.cached() == 0);
}

TEST_CASE_FIXTURE(MemoryFixture, "hits and misses are counted") {
  const auto before = memory.counts();
  for (int i = 0; i < 3; ++i) {
    const Buffer buffer = memory.allocate(50 * kMiB);
  }
  const auto after = memory.counts();
  CHECK(after.misses - before.misses == 1);
  CHECK(after.hits - before.hits == 2);
  CHECK(after.bytes - before.bytes == 150 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "buffers are wired in the order of their making while they fit") {
  const Buffer first = memory.allocate(10 * kMiB);
  const Buffer second = memory.allocate(20 * kMiB);
  const std::size_t others = memory.active() - 30 * kMiB;
  REQUIRE(others < kMiB);

  memory.set_wired_limit(15 * kMiB);
  CHECK(memory.wired() / kMiB == 10);
  memory.set_wired_limit(40 * kMiB);
  CHECK(memory.wired() / kMiB == 30);
  const Buffer third = memory.allocate(20 * kMiB);
  CHECK(memory.wired() / kMiB == 30);
  memory.set_wired_limit(12 * kMiB);
  CHECK(memory.wired() / kMiB == 10);
  memory.set_wired_limit(0);
  CHECK(memory.wired() == 0);
}

TEST_CASE_FIXTURE(MemoryFixture, "too many buffers are refused, and the cache goes first") {
  const std::size_t limit = pewter::runtime::device_info().resource_limit;
  std::vector<Buffer> buffers;
  buffers.reserve(limit);
  {
    const Buffer cached = memory.allocate(kMiB);
  }
  while (buffers.size() < limit) {
    Buffer buffer;
    try {
      buffer = memory.allocate(1);
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()).find("[metal::malloc]") == 0);
      CHECK(std::string(error.what()).find(std::to_string(limit)) != std::string::npos);
      break;
    }
    buffers.push_back(std::move(buffer));
  }
  CHECK_THROWS_AS(memory.allocate(1), std::runtime_error);
  CHECK(memory.cached() == 0);
  buffers.clear();
  CHECK(memory.allocate(1));
}
