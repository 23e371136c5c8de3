#pragma once

#include <pewter/errors.h>
#include <pewter/export.h>
#include <pewter/memory_report.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>

/// The memory of the process's one allocator. All sizes are bytes; every function may be called
/// from any thread at any time, and the queries never wait.
///
/// Active is what live arrays hold, cached what was freed and kept for reuse. Without a device
/// these are the numbers of host memory.
namespace pewter {

PEWTER_EXPORT std::size_t get_active_memory();
/// The largest value active has had since the last reset.
PEWTER_EXPORT std::size_t get_peak_memory();
/// Sets the peak to zero; the next allocation lifts it to at least active.
PEWTER_EXPORT void reset_peak_memory();
PEWTER_EXPORT std::size_t get_cache_memory();

/// A guideline, kept while work is evaluated: past it, evaluation waits for tasks in flight. Then
/// memory is allocated all the same, or, with `relaxed` false, OutOfMemoryError is thrown. Returns
/// the limit before.
PEWTER_EXPORT std::size_t set_memory_limit(std::size_t limit, bool relaxed = true);
PEWTER_EXPORT std::size_t get_memory_limit();
/// How much freed memory is kept; 0 keeps none. Returns the limit before.
PEWTER_EXPORT std::size_t set_cache_limit(std::size_t limit);
/// How much memory is kept resident. Returns the limit before. Throws std::invalid_argument above
/// the recommended working set.
PEWTER_EXPORT std::size_t set_wired_limit(std::size_t limit);
/// Gives all cached memory back to the system.
PEWTER_EXPORT void clear_cache();

namespace detail {
/// `limit`; throws std::invalid_argument when it is negative.
PEWTER_EXPORT std::size_t byte_limit(const char* function, long long limit);
}  // namespace detail

// A negative number is a mistake, not a limit of almost 2^64.
template <std::signed_integral T>
std::size_t set_memory_limit(T limit, bool relaxed = true) {
  return set_memory_limit(detail::byte_limit("set_memory_limit", limit), relaxed);
}
template <std::signed_integral T>
std::size_t set_cache_limit(T limit) {
  return set_cache_limit(detail::byte_limit("set_cache_limit", limit));
}
template <std::signed_integral T>
std::size_t set_wired_limit(T limit) {
  return set_wired_limit(detail::byte_limit("set_wired_limit", limit));
}

// A fraction of a byte is one too.
template <std::floating_point T>
std::size_t set_memory_limit(T limit, bool relaxed = true) = delete;
template <std::floating_point T>
std::size_t set_cache_limit(T limit) = delete;
template <std::floating_point T>
std::size_t set_wired_limit(T limit) = delete;

/// A wall: an allocation that would take what the device has allocated past it throws
/// OutOfMemoryError. 0 is no limit. Returns the limit before. The memory that the machine can give
/// without swapping is a wall always, whatever this says (PEWTER_MEMORY_GUARD=0 takes it down).
PEWTER_EXPORT std::size_t set_hard_memory_limit(std::size_t limit);
PEWTER_EXPORT std::size_t get_hard_memory_limit();

/// Who holds what.
PEWTER_EXPORT MemorySnapshot memory_snapshot();
/// From now on allocations remember where they were made, which costs microseconds each.
PEWTER_EXPORT void record_allocation_stacks(bool on);
/// The counters beside the operating system's.
PEWTER_EXPORT MemoryReconciliation reconcile_memory();

/// For people, and for programs.
PEWTER_EXPORT std::string to_text(const MemorySnapshot& snapshot);
PEWTER_EXPORT std::string to_json(const MemorySnapshot& snapshot);
PEWTER_EXPORT std::string to_text(const MemoryScopeReport& report);
PEWTER_EXPORT std::string to_json(const MemoryScopeReport& report);

/// Brackets a piece of code and reports what it did to memory, in every thread of the process.
///
/// Scopes may nest and overlap.
///
///     MemoryScope scope("training step");
///     step();
///     std::cerr << to_text(scope.report());
class PEWTER_EXPORT MemoryScope {
 public:
  explicit MemoryScope(std::string name = "");
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
  ~MemoryScope();

  /// From the beginning of the scope up to this call.
  MemoryScopeReport report() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace pewter
