#include "pewter/runtime/stream.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/host_work.h"
#include "pewter/runtime/scheduler.h"
#include "tests/support/gpu.h"

using pewter::runtime::Access;
using pewter::runtime::allocator;
using pewter::runtime::Buffer;
using pewter::runtime::encode_host_work;
using pewter::runtime::page_size;
using pewter::runtime::Scheduler;
using pewter::runtime::Stream;
using pewter::test::Gpu;
using pewter::test::size;

namespace {

constexpr const char* kSource = R"(
  kernel void add_one(device uint* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }
  kernel void slow_set(device volatile uint* x [[buffer(0)]]) {
    for (uint i = 0; i < 3000000; ++i) { x[1] = i; }
    x[0] = 42;
  }
  kernel void fault(device uint* x [[buffer(0)]]) { x[1ul << 40] = 1; }
)";

struct Work {
  Gpu gpu;
  NS::SharedPtr<MTL::Library> library = gpu.library(kSource);
  Buffer buffer = allocator().allocate(4096);

  Work() { clear(); }

  void clear() const { std::fill_n(values(), 1024, 0u); }
  std::uint32_t* values() const { return reinterpret_cast<std::uint32_t*>(buffer.contents()); }

  void encode(Stream& stream, const std::string& kernel, std::size_t threads) const {
    const auto pipeline = gpu.pipeline(library.get(), kernel);
    const auto guard = stream.exclusive();
    auto* encoder = stream.compute_encoder();
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(buffer.metal(), 0, 0);
    encoder->dispatchThreads(size(threads), size(std::min<std::size_t>(threads, 64)));
  }
};

std::string failure_of(Stream& stream) {
  try {
    stream.synchronize();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("work of a stream runs in order and is done after synchronize") {
  const Work work;
  const auto stream = Stream::create();
  for (int i = 0; i < 100; ++i) {
    work.encode(*stream, "add_one", 1024);
    stream->use(work.buffer);
    if (i % 7 == 0) {
      stream->commit();
    }
  }
  stream->synchronize();
  CHECK(work.values()[0] == 100);
  CHECK(work.values()[1023] == 100);
  CHECK(stream->idle());
}

TEST_CASE("the first failure of a stream surfaces at the wait, once") {
  const Work work;
  const auto stream = Stream::create();
  stream->fail("the first reason");
  work.encode(*stream, "fault", 1);
  stream->use(work.buffer);
  stream->commit();
  CHECK(failure_of(*stream) == "the first reason");
  CHECK(failure_of(*stream).empty());

  work.encode(*stream, "fault", 1);
  stream->commit();
  work.encode(*stream, "add_one", 1024);
  CHECK(!failure_of(*stream).empty());
  work.encode(*stream, "add_one", 1024);
  CHECK(failure_of(*stream).empty());
}

TEST_CASE("a buffer is not reused before the work on it is done") {
  const Work work;
  const auto stream = Stream::create();
  Buffer buffer = allocator().allocate(4096);
  MTL::Buffer* metal = buffer.metal();
  const auto pipeline = work.gpu.pipeline(work.library.get(), "slow_set");
  {
    const auto guard = stream->exclusive();
    auto* encoder = stream->compute_encoder();
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(metal, 0, 0);
    encoder->dispatchThreads(size(1), size(1));
    stream->use(buffer);
  }
  stream->commit();
  buffer.reset();

  const Buffer other = allocator().allocate(4096);
  const bool was_done = stream->idle();
  CHECK((was_done || other.metal() != metal));
  stream->synchronize();
}

TEST_CASE("the end of adopted memory may wait for the stream whose task brings it") {
  const Work work;
  const auto stream = Stream::create();
  void* const memory = std::aligned_alloc(page_size(), page_size());
  std::promise<std::uint32_t> seen;
  Buffer adopted = allocator().adopt(memory, page_size(), [&] {
    std::free(memory);
    work.encode(*stream, "add_one", 1);
    stream->use(work.buffer);
    stream->synchronize();
    seen.set_value(work.values()[0]);
  });
  REQUIRE(adopted);

  stream->use(adopted);
  adopted.reset();
  stream->synchronize();

  CHECK(seen.get_future().get() == 1);
}

TEST_CASE("a stream waits for another one's work on the same buffer") {
  const Work work;
  const auto writer = Stream::create();
  const auto reader = Stream::create();
  work.encode(*writer, "slow_set", 1);
  writer->use(work.buffer, Access::Write);

  reader->use(work.buffer, Access::Write);
  work.encode(*reader, "add_one", 1);
  reader->synchronize();
  CHECK(work.values()[0] == 43);
}

TEST_CASE("threads that come to what the other has used do not wait for each other") {
  const Work first;
  const Work second;
  std::latch both_have_begun(2);
  const auto use_both = [&](const Work& own, const Work& other) {
    const auto stream = Stream::create();
    const pewter::runtime::AutoreleaseScope scope;
    {
      const auto guard = stream->exclusive();
      stream->use(own.buffer);
      own.encode(*stream, "add_one", 1);
      both_have_begun.arrive_and_wait();
      stream->use(other.buffer);
      other.encode(*stream, "add_one", 1);
    }
    return failure_of(*stream);
  };

  auto elsewhere = std::async(std::launch::async, [&] { return use_both(second, first); });
  CHECK(use_both(first, second).empty());
  CHECK(elsewhere.get().empty());

  CHECK(first.values()[0] == 2);
  CHECK(second.values()[0] == 2);
}

TEST_CASE("the host waits for the work on a buffer, submitted or not") {
  const Work work;
  const auto stream = Stream::create();
  work.encode(*stream, "slow_set", 1);
  stream->use(work.buffer);
  work.buffer.synchronize();
  CHECK(work.values()[0] == 42);
}

TEST_CASE("a stream waits for a task of another stream") {
  const Work work;
  const auto first = Stream::create();
  const auto second = Stream::create();
  work.encode(*first, "slow_set", 1);
  const std::uint64_t task = first->open_task();
  second->wait_for(*first, task);
  work.encode(*second, "add_one", 1);
  second->synchronize();
  CHECK(work.values()[0] == 43);
}

TEST_CASE("a failed task still lets those go on that wait for it") {
  const Work work;
  const auto first = Stream::create();
  const auto second = Stream::create();
  work.encode(*first, "fault", 1);
  second->wait_for(*first, first->open_task());
  work.encode(*second, "add_one", 1);
  CHECK(failure_of(*second).empty());
  CHECK(!failure_of(*first).empty());
  CHECK(work.values()[0] == 1);
}

TEST_CASE("no more than ten tasks are left in flight by a thread that submits") {
  const Work work;
  const auto stream = Stream::create();
  std::size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    work.encode(*stream, "add_one", 1024);
    stream->commit();
    most = std::max(most, Scheduler::instance().tasks_in_flight());
  }
  stream->synchronize();
  CHECK(most <= Scheduler::kMaxTasksInFlight);
  CHECK(work.values()[5] == 200);
}

TEST_CASE("a stream submits by itself after 40 operations") {
  const Work work;
  const auto stream = Stream::create();
  for (int i = 0; i < 39; ++i) {
    work.encode(*stream, "add_one", 1);
    stream->operation_encoded();
  }
  CHECK(stream->open_task() == 1);
  work.encode(*stream, "add_one", 1);
  stream->operation_encoded();
  CHECK(stream->open_task() == 2);
  stream->synchronize();
}

TEST_CASE("a stream submits by itself when its work uses more than 40 MiB, counted once") {
  const Work work;
  const auto stream = Stream::create();
  const Buffer large = allocator().allocate(30 << 20);
  const Buffer other = allocator().allocate(12 << 20);
  for (int i = 0; i < 3; ++i) {
    work.encode(*stream, "add_one", 1);
    stream->use(large);
    stream->operation_encoded();
  }
  CHECK(stream->open_task() == 1);
  work.encode(*stream, "add_one", 1);
  stream->use(other);
  stream->operation_encoded();
  CHECK(stream->open_task() == 2);
  stream->synchronize();
}

TEST_CASE("synchronize_all waits for every thread's stream, and throws what failed") {
  const Work work;
  const auto stream = Stream::create();
  std::thread([&] {
    const pewter::runtime::AutoreleaseScope scope;
    work.encode(*stream, "slow_set", 1);
    stream->commit();
  }).join();
  pewter::runtime::synchronize_all();
  CHECK(work.values()[0] == 42);

  std::thread([&] {
    const pewter::runtime::AutoreleaseScope scope;
    work.encode(*stream, "fault", 1);
  }).join();
  CHECK_THROWS_AS(pewter::runtime::synchronize_all(), std::runtime_error);
  pewter::runtime::synchronize_all();
}

TEST_CASE("completion handlers run after their task, and may free and allocate under a limit") {
  const Work work;
  const auto stream = Stream::create();
  std::atomic<bool> ran = false;
  const std::size_t limit = allocator().set_memory_limit(0, true);
  work.encode(*stream, "add_one", 1);
  stream->on_completion([&] {
    const Buffer buffer = allocator().allocate(1 << 20);
    allocator().wait_for_memory_limit();
    ran = true;
  });
  stream->synchronize();
  allocator().set_memory_limit(limit, true);
  CHECK(ran);
}

TEST_CASE("an allocation waits for tasks in flight before a strict limit refuses it") {
  const Work work;
  const auto stream = Stream::create();
  allocator().empty_cache();
  const std::size_t limit = allocator().memory_limit();
  Buffer held = allocator().allocate(64 << 20);
  work.encode(*stream, "slow_set", 1);
  stream->use(held);
  held.reset();
  allocator().set_memory_limit(allocator().active() + (1 << 20), false);

  // Its work is not even submitted yet; the wait does that.
  const Buffer buffer = allocator().allocate(32 << 20);
  allocator().set_memory_limit(limit, true);
  CHECK(buffer);
  CHECK(work.values()[0] == 42);
  stream->synchronize();
}

TEST_CASE("a wait for work that its own thread would have to submit gives up") {
  const Work work;
  const auto stream = Stream::create();
  const auto event = NS::TransferPtr(pewter::runtime::device()->newSharedEvent());
  stream->command_buffer()->encodeWait(event.get(), 1);
  Buffer held = allocator().allocate(64 << 20);
  stream->use(held);
  stream->commit();
  held.reset();

  const std::size_t limit = allocator().set_memory_limit(1, true);
  allocator().wait_for_memory_limit();
  allocator().set_memory_limit(limit, true);
  event->setSignaledValue(1);
  stream->synchronize();
  CHECK(stream->idle());
}

TEST_CASE("work of the host runs in the order of its stream, wherever it runs") {
  const Work work;
  const auto stream = Stream::create();
  for (int round = 0; round < 200; ++round) {
    work.clear();
    bool is_right = false;
    work.encode(*stream, "add_one", 1024);
    encode_host_work(*stream, {}, work.buffer, [&] {
      is_right = work.values()[1023] == 1;
      work.values()[1023] = 10;
    });
    work.encode(*stream, "add_one", 1024);
    encode_host_work(*stream, {}, work.buffer, [&] { work.values()[0] *= 7; });
    work.encode(*stream, "add_one", 1024);

    stream->synchronize();

    REQUIRE(is_right);
    REQUIRE(work.values()[1023] == 12);
    REQUIRE(work.values()[0] == 15);
  }
}

TEST_CASE("work of the host does not round as the thread that waits for it does") {
  const Work work;
  const auto stream = Stream::create();
  const auto rounds_to_nearest = [] {
    volatile float one = 1;
    return one + 1e-9F == 1;
  };
  bool is_nearest_there = false;

  std::fesetround(FE_UPWARD);
  encode_host_work(*stream, {}, work.buffer, [&] { is_nearest_there = rounds_to_nearest(); });
  stream->synchronize();
  const bool is_nearest_here = rounds_to_nearest();
  std::fesetround(FE_TONEAREST);

  CHECK(is_nearest_there);
  CHECK_FALSE(is_nearest_here);
}

TEST_CASE("work of the host runs without anybody who waits") {
  const Work work;
  const auto stream = Stream::create();
  std::atomic<bool> has_run = false;

  encode_host_work(*stream, {}, work.buffer, [&] {
    has_run = true;
    has_run.notify_all();
  });
  has_run.wait(false);

  CHECK(has_run);
  stream->synchronize();
}
