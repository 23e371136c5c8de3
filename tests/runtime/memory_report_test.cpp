#include "pewter/runtime/memory_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "pewter/runtime/memory_scope.h"
#include "pewter/runtime/system_memory.h"
#include "tests/runtime/memory_fixture.h"
#include "tests/support/sanitizer_limits.h"

using pewter::AllocationRecord;
using pewter::MemoryScopeReport;
using pewter::MemorySnapshot;
using pewter::runtime::Buffer;
using pewter::runtime::MemoryScope;
using pewter::test::kMiB;
using pewter::test::MemoryFixture;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The record of a buffer.
AllocationRecord find(const MemorySnapshot& snapshot, const Buffer& buffer) {
  const auto found = std::find_if(
      snapshot.allocations.begin(), snapshot.allocations.end(),
      [&](const AllocationRecord& record) { return record.address == buffer.contents(); });
  REQUIRE(found != snapshot.allocations.end());
  return *found;
}

__attribute__((noinline)) Buffer allocate_somewhere() {
  Buffer buffer = pewter::runtime::allocator().allocate(3 * kMiB);
  return buffer;
}

}  // namespace

TEST_CASE_FIXTURE(MemoryFixture, "a snapshot lists who holds what") {
  const Buffer weights = memory.allocate(5 * kMiB - 1);
  weights.set_label("weights \"w\"\n");
  {
    const Buffer gone = memory.allocate(7 * kMiB);
    gone.set_label("gone");
  }
  const MemorySnapshot snapshot = pewter::runtime::memory_snapshot();

  const AllocationRecord record = find(snapshot, weights);
  CHECK(record.kind == AllocationRecord::Kind::InUse);
  CHECK(record.bytes == 5 * kMiB);
  CHECK(record.requested == 5 * kMiB - 1);
  CHECK(record.label == "weights \"w\"\n");
  std::size_t active = 0;
  std::size_t cached = 0;
  for (const AllocationRecord& each : snapshot.allocations) {
    (each.kind == AllocationRecord::Kind::Cached ? cached : active) += each.bytes;
    CHECK(each.label != "gone");
  }
  CHECK(active == snapshot.active);
  CHECK(cached == snapshot.cached);
  CHECK(cached == 7 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "a snapshot can be read by people and by programs") {
  const Buffer weights = memory.allocate(5 * kMiB);
  weights.set_label("weights \"w\"");
  const MemorySnapshot snapshot = pewter::runtime::memory_snapshot();
  const std::string text = pewter::runtime::to_text(snapshot);
  CHECK(contains(text, "5.00 MiB  in use   weights \"w\"\n"));
  const std::string json = pewter::runtime::to_json(snapshot);
  CHECK(contains(json, R"({"kind":"in use","bytes":5242880,"requested":5242880,"address":"0x)"));
  CHECK(contains(json, R"("label":"weights \"w\"","stack":[]})"));
}

TEST_CASE_FIXTURE(MemoryFixture, "stacks are recorded when asked for, and only then") {
  memory.record_stacks(true);
  const Buffer with = allocate_somewhere();
  memory.record_stacks(false);
  const Buffer without = allocate_somewhere();

  const MemorySnapshot snapshot = pewter::runtime::memory_snapshot();
  const AllocationRecord recorded = find(snapshot, with);
  CHECK(recorded.stack.size() > 2);
  CHECK(contains(recorded.stack.back(), " in "));
  CHECK(find(snapshot, without).stack.empty());
}

TEST_CASE_FIXTURE(MemoryFixture, "a scope reports its own peak, requests and leaks") {
  const Buffer before = memory.allocate(10 * kMiB);
  Buffer leak;
  const MemoryScope scope("step");
  {
    const Buffer one = memory.allocate(20 * kMiB);
    const Buffer two = memory.allocate(30 * kMiB);
  }
  leak = memory.allocate(30 * kMiB);
  leak.set_label("forgotten");
  memory.reset_peak();

  const MemoryScopeReport report = scope.report();
  CHECK(report.name == "step");
  CHECK(report.peak == report.active_at_start + 50 * kMiB);
  CHECK(report.active_at_end == report.active_at_start + 30 * kMiB);
  CHECK(report.cache_hits == 1);
  CHECK(report.cache_misses == 2);
  CHECK(report.allocated == 80 * kMiB);
  CHECK(report.leaked == 30 * kMiB);
  REQUIRE(report.leaks.size() == 1);
  CHECK(report.leaks[0].label == "forgotten");
  CHECK(contains(pewter::runtime::to_text(report), "30.00 MiB leaked in 1 buffers"));
  CHECK(contains(pewter::runtime::to_json(report), R"("leaked":31457280)"));
}

TEST_CASE_FIXTURE(MemoryFixture, "scopes nest, and see other threads") {
  const MemoryScope outer("outer");
  std::thread([&] { memory.allocate(40 * kMiB); }).join();
  {
    const MemoryScope inner("inner");
    memory.allocate(10 * kMiB);
    CHECK(inner.report().peak == inner.report().active_at_start + 10 * kMiB);
    CHECK(inner.report().leaks.empty());
  }
  CHECK(outer.report().peak == outer.report().active_at_start + 40 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "the counters agree with the system within 5 % on 1 GiB") {
  if (!pewter::test::can_reconcile_memory()) {
    return;
  }
  const std::size_t resident = pewter::runtime::resident_memory();
  const std::size_t counted = memory.active() + memory.cached();
  const std::size_t touched = pewter::runtime::reconcile_memory().touched;
  std::vector<Buffer> buffers;
  std::size_t asked = 0;
  for (std::size_t size = 100; asked < 1024 * kMiB; size = size * 3 % (37 * kMiB) + 1) {
    buffers.push_back(memory.allocate(std::min(size, 1024 * kMiB - asked)));
    std::memset(buffers.back().contents(), 1, buffers.back().length());
    asked += size;
  }
  // Half of it cached: that is the process's memory as well.
  buffers.resize(buffers.size() / 2);

  const auto ours = static_cast<double>(memory.active() + memory.cached() - counted);
  const auto systems = static_cast<double>(pewter::runtime::resident_memory() - resident);
  const auto reconciled = pewter::runtime::reconcile_memory();
  CHECK(ours >= 1024.0 * kMiB);
  CHECK(systems / ours == doctest::Approx(1).epsilon(0.05));
  CHECK(static_cast<double>(reconciled.touched - touched) / ours ==
        doctest::Approx(1).epsilon(0.05));
  CHECK(reconciled.counted == memory.active() + memory.cached());
  CHECK(reconciled.other < 512 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "memory that was never touched is counted and not resident") {
  const std::size_t touched = pewter::runtime::reconcile_memory().touched;
  const Buffer buffer = memory.allocate(200 * kMiB);
  const auto reconciled = pewter::runtime::reconcile_memory();
  CHECK(reconciled.counted >= 200 * kMiB);
  CHECK(reconciled.touched < touched + 4 * kMiB);
}
