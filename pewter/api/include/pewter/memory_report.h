#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What pewter knows about memory, as plain data. All sizes are bytes.
namespace pewter {

/// One buffer of the allocator.
struct AllocationRecord {
  enum class Kind {
    InUse,
    /// Freed, and kept for reuse.
    Cached,
    /// The caller's memory, wrapped.
    Adopted,
  };

  Kind kind = Kind::InUse;
  /// What is reserved.
  std::size_t bytes = 0;
  /// What was asked for.
  std::size_t requested = 0;
  const void* address = nullptr;
  /// Empty unless someone named it.
  std::string label;
  /// Where it was allocated, innermost call first; empty unless record_allocation_stacks(true) came
  /// before.
  std::vector<std::string> stack;
};

/// Who holds what at one moment.
struct MemorySnapshot {
  std::size_t active = 0;
  std::size_t cached = 0;
  std::size_t peak = 0;
  std::size_t driver_total = 0;
  /// In the order in which they were made.
  std::vector<AllocationRecord> allocations;
};

/// Our counters beside what the operating system says of the process.
struct MemoryReconciliation {
  /// Active and cached, adopted memory included.
  std::size_t counted = 0;
  /// How much of it is in the machine's memory: what was never touched costs nothing.
  std::size_t touched = 0;
  /// What of the process is in the machine's memory, all told.
  std::size_t resident = 0;
  /// The rest: code, stacks, the heaps of others.
  std::size_t other = 0;
};

/// The memory of a process at one moment.
struct MemorySample {
  /// Since the process began to report.
  std::uint64_t milliseconds = 0;
  std::uint64_t active = 0;
  std::uint64_t cached = 0;
  std::uint64_t peak = 0;
  std::uint64_t driver_total = 0;
  /// What the operating system says is in the machine's memory.
  std::uint64_t resident = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
};

/// What happened to memory between the beginning of a MemoryScope and its end.
struct MemoryScopeReport {
  std::string name;
  std::size_t active_at_start = 0;
  std::size_t active_at_end = 0;
  /// The largest value active had meanwhile; at least active_at_start.
  std::size_t peak = 0;
  /// Requests that a cached buffer served, and those that needed memory of the system.
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  /// Bytes of all those requests.
  std::uint64_t allocated = 0;
  /// Buffers that were allocated in the scope and are still in use.
  std::vector<AllocationRecord> leaks;
  std::size_t leaked = 0;
};

}  // namespace pewter
