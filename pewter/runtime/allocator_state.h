#pragma once

#include <Metal/Metal.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pewter/runtime/allocation_log.h"
#include "pewter/runtime/allocator.h"
#include "pewter/runtime/block_source.h"
#include "pewter/runtime/buffer_cache.h"
#include "pewter/runtime/machine_guard.h"
#include "pewter/runtime/magazine.h"
#include "pewter/runtime/peak_tracker.h"
#include "pewter/runtime/watermarks.h"
#include "pewter/runtime/wired_memory.h"

namespace pewter::runtime {

// Reasons why a request cannot be served from the thread's magazine without a closer look.
inline constexpr unsigned kSpecialStrict = 1;     // set_memory_limit(..., relaxed = false)
inline constexpr unsigned kSpecialHardLimit = 2;  // a hard limit that the process can reach
inline constexpr unsigned kSpecialStacks = 4;     // stacks are recorded
inline constexpr unsigned kSpecialLog = 8;        // allocations are logged
inline constexpr unsigned kSpecialBadMarks = 16;  // the environment's watermarks make no sense

/// The allocator's members. `active` is all that busy threads share; cached bytes are the
/// difference between what is held and what is active.
struct Allocator::State {
  explicit State(MTL::Device* metal_device);

  std::size_t rounded(std::size_t size) const {
    return device != nullptr && size > page ? (size + page - 1) / page * page : size;
  }
  std::size_t cached() const {
    const std::size_t busy = active.load(std::memory_order_acquire);
    const std::size_t all = held.load(std::memory_order_acquire);
    return all > busy ? all - busy : 0;
  }
  std::size_t driver_total() const {
    return device != nullptr ? device->currentAllocatedSize() : held.load();
  }
  bool is_special(unsigned reasons) const {
    return (special.load(std::memory_order_relaxed) & reasons) != 0;
  }
  void set_special(unsigned reason, bool on);
  void set_hard_limit(std::size_t limit);
  void update_gc_limit();
  /// Every lock that requests take, for a fork.
  void lock_all();
  void unlock_all();
  /// Puts what a thread's magazine held where other threads find it.
  static void magazine_ended(Magazine& magazine);

  /// Hands out a block that belongs to nobody.
  Buffer activate(Block* block, std::size_t size);

  // The way of a request that the magazine could not serve.
  Buffer allocate_slowly(std::size_t size);
  void wait_for_strict_limit(std::size_t length);
  Block* find_or_make(std::size_t length, std::size_t size, bool last_try);
  /// Unlocks on success.
  Block* make(std::unique_lock<std::mutex>& lock, std::size_t length);
  bool run_out_of_memory_callbacks();
  static void count(bool hit, std::size_t length);
  [[noreturn]] void refuse_strict(std::size_t size) const;
  [[noreturn]] void refuse(std::size_t size, const std::string& reason) const;
  bool exceeds_strict_limit(std::size_t length) const;
  bool exceeds_hard_limit(std::size_t length) const;

  // With the mutex held.
  Block* take_cached(std::size_t length);
  void collect_magazines();
  void reclaim_for(std::size_t length, std::vector<Block*>& ended);
  void relieve_pressure(std::size_t length, std::vector<Block*>& ended);
  void release_oldest(std::size_t bytes, std::vector<Block*>& ended);
  void release_until_allowed(std::size_t length);
  /// Takes a block, not in the cache, out of every list and count.
  void forget(Block* block);
  void add_made(Block* block);

  /// Gives the memory of forgotten blocks back.
  void end(const std::vector<Block*>& ended);
  void trim_to_cache_limit();
  void clear_cache();

  MTL::Device* const device;
  const std::size_t page;
  const std::size_t max_length;
  const std::size_t working_set;
  const std::size_t memory_size;
  const std::size_t resource_limit;
  const Watermarks watermarks;
  const AllocationLog log;
  BlockSource source;

  // Written by every request: nothing else may lie beside them.
  alignas(64) std::atomic<std::size_t> active = 0;
  std::atomic<std::uint64_t> frees = 0;

  // Read by every request, written when memory comes from or goes to the system.
  alignas(64) std::atomic<std::size_t> held = 0;
  std::atomic<std::size_t> cache_limit = 0;
  std::atomic<unsigned> special = 0;
  std::atomic<std::uint64_t> scopes_begun = 0;
  PeakTracker peak;

  alignas(64) std::atomic<std::size_t> memory_limit = 0;
  std::atomic<std::size_t> gc_limit = 0;
  std::atomic<std::size_t> hard_limit = 0;  // 0 is none
  std::atomic<std::size_t> soft_limit = 0;  // 0 is none
  std::atomic<std::size_t> wired_limit = 0;

  std::mutex mutex;  // guards the members below
  BufferCache cache;
  WiredMemory wired;
  MachineGuard guard;
  Block* first_made = nullptr;
  Block* last_made = nullptr;
  std::size_t resources = 0;
  // Bytes of blocks that are being made.
  std::size_t pending = 0;

  std::mutex callbacks_mutex;  // guards the member below
  std::vector<std::function<void()>> out_of_memory_callbacks;
};

}  // namespace pewter::runtime
