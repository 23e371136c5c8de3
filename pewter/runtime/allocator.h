#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "pewter/runtime/buffer.h"
#include "pewter/runtime/peak_tracker.h"

namespace pewter::runtime {

/// How requests went since the process started.
struct AllocationCounts {
  /// Requests that a cached buffer served.
  std::uint64_t hits = 0;
  /// Requests that needed memory of the system.
  std::uint64_t misses = 0;
  /// Bytes of both.
  std::uint64_t bytes = 0;
};

/// Hands out buffers and keeps freed ones for reuse; one serves every front door.
///
/// Safe to use from any thread at any time. The queries never wait and never throw. Without a
/// device the buffers are plain host memory and page rounding falls away.
class Allocator {
 public:
  /// The process's one allocator.
  static Allocator& instance();

  /// At least `size` bytes with undefined contents, or a null buffer for 0. Throws
  /// std::runtime_error when `size` exceeds what one buffer may have or the environment sets
  /// watermarks that make no sense, and OutOfMemoryError when a limit or the machine refuses; then
  /// no counter has changed.
  Buffer allocate(std::size_t size);

  /// Wraps memory of the caller, page aligned and a multiple of pages long, without a copy. It
  /// counts as active and never enters the cache; `release` is called when nothing uses it any
  /// more: by the thread that lets go of it, or, when a task that has completed does, by a thread
  /// of the library's own, where it may wait for the device. It must not throw. Null when the
  /// device does not take the memory; then `release` is not called.
  Buffer adopt(void* memory, std::size_t size, std::function<void()> release);

  std::size_t active() const;
  std::size_t cached() const;
  std::size_t peak() const;
  /// Everything the device has allocated for this process.
  std::size_t driver_total() const;
  AllocationCounts counts() const;
  /// Bytes that are kept resident.
  std::size_t wired() const;

  /// Zero, not active(): the next allocation lifts it.
  void reset_peak();

  std::size_t memory_limit() const;
  std::size_t hard_limit() const;
  /// Whether cached memory is being given back because the soft limit is reached.
  bool under_pressure() const;

  /// These return what was in force before.
  std::size_t set_memory_limit(std::size_t limit, bool relaxed);
  std::size_t set_cache_limit(std::size_t limit);
  /// Throws std::invalid_argument above the recommended working set; returns 0 and stores nothing
  /// without a device.
  std::size_t set_wired_limit(std::size_t limit);
  /// No allocation takes driver_total() past it; 0 is no limit.
  std::size_t set_hard_limit(std::size_t limit);

  /// The hard limit as a fraction of the recommended working set. Throws std::invalid_argument
  /// outside 0 to 2.
  void set_memory_fraction(double fraction);

  /// Gives every cached buffer back to the system.
  void clear_cache();
  /// The same, once all submitted work is done.
  void empty_cache();

  /// Called, without any lock, before an allocation is refused: a chance to let go of buffers.
  void add_out_of_memory_callback(std::function<void()> callback);

  /// Blocks while more is active than the memory limit allows and tasks in flight may free some.
  void wait_for_memory_limit();

  /// Records the stack of every allocation from now on, for snapshots.
  void record_stacks(bool on);

  /// Follows the peak for a memory scope; see memory_scope.h.
  std::uint64_t begin_scope(PeakTracker::Mark& mark);
  void end_scope(PeakTracker::Mark& mark);
  std::size_t scope_peak(const PeakTracker::Mark& mark) const;

  /// Calls `function` for every buffer in use (`state` is not Cached) or cached, oldest first. No
  /// buffer ends meanwhile; the function must not allocate or free buffers.
  void for_each_block(const std::function<void(Block&)>& function);

  /// For Buffer: the last share of `block` has gone.
  void recycle(Block* block) noexcept;

  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

 private:
  struct State;

  Allocator();
  ~Allocator();

  const std::unique_ptr<State> state_;
};

/// Allocator::instance(), shorter.
inline Allocator& allocator() {
  return Allocator::instance();
}

}  // namespace pewter::runtime
