#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "pewter/runtime/buffer.h"

namespace pewter::runtime {

/// Hands out buffers and keeps freed ones for reuse; one serves every front door.
///
/// Safe to use from any thread at any time. The queries never wait and never throw. Without a
/// device the buffers are plain host memory and page rounding falls away.
class Allocator {
 public:
  /// The process's one allocator. Throws std::runtime_error when the environment sets watermarks
  /// that make no sense.
  static Allocator& instance();

  /// At least `size` bytes with undefined contents, or a null buffer for 0. Throws
  /// std::runtime_error when `size` exceeds what one buffer may have, and OutOfMemoryError when a
  /// limit or the machine refuses; then no counter has changed.
  Buffer allocate(std::size_t size);

  /// Wraps memory of the caller, page aligned and a multiple of pages long, without a copy. It
  /// counts as active and never enters the cache; `release` is called when the last share goes.
  /// Null when the device does not take the memory; then `release` is not called.
  Buffer adopt(void* memory, std::size_t size, std::function<void()> release);

  std::size_t active() const;
  std::size_t cached() const;
  std::size_t peak() const;
  /// Everything the device has allocated for this process.
  std::size_t driver_total() const;

  /// Zero, not active(): the next allocation lifts it.
  void reset_peak();

  std::size_t memory_limit() const;
  /// Both return what was in force before.
  std::size_t set_memory_limit(std::size_t limit, bool relaxed);
  std::size_t set_cache_limit(std::size_t limit);
  /// Throws std::invalid_argument above the recommended working set; returns 0 and stores nothing
  /// without a device.
  std::size_t set_wired_limit(std::size_t limit);

  /// Hard limit as a fraction of the recommended working set; 0 is no limit. Throws
  /// std::invalid_argument outside 0 to 2.
  void set_memory_fraction(double fraction);

  /// Gives every cached buffer back to the system.
  void clear_cache();

  /// For Buffer: the last share of `block` has gone.
  void recycle(Block* block) noexcept;

  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

 private:
  struct State;

  Allocator();
  ~Allocator();

  std::unique_ptr<State> state_;
};

/// Allocator::instance(), shorter.
inline Allocator& allocator() {
  return Allocator::instance();
}

}  // namespace pewter::runtime
