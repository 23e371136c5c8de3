#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "pewter/runtime/block.h"

namespace pewter::runtime {

/// A thread's own handful of cached blocks, so that threads which reuse their own buffers share
/// nothing but a counter.
///
/// It gives out blocks of exactly the length asked for, which no other cached block can beat. Its
/// thread alone adds; any thread may take everything (drain), as the allocator does before it gives
/// up on a request, so no cached block is out of reach.
class Magazine {
 public:
  /// How the owner's requests went.
  struct Counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t bytes = 0;
  };

  /// The calling thread's; null once the thread's end has begun. When a thread ends, `at_end` of
  /// the first call in the process gets what its magazine holds.
  static Magazine* current(void (*at_end)(Magazine&));

  /// A block of that length; null when there is none. Owner only.
  Block* take(std::size_t length);
  /// Keeps `block`; returns the one that had to go for it, or null. Owner only.
  Block* put(Block* block);
  /// Owner only.
  void count_hit(std::size_t bytes) { count(hits_, bytes); }
  void count_miss(std::size_t bytes) { count(misses_, bytes); }

  /// Takes out every block. Any thread.
  template <typename Function>
  void drain(Function function) {
    for (auto& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) != nullptr) {
        if (Block* block = slot.exchange(nullptr, std::memory_order_acquire)) {
          function(block);
        }
      }
    }
  }

  /// Every magazine that there ever was; threads to come inherit those of threads that ended.
  template <typename Function>
  static void for_each(Function function) {
    for (Magazine* magazine = first(); magazine != nullptr; magazine = magazine->next_) {
      function(*magazine);
    }
  }

  /// Held while threads come; for a fork.
  static std::mutex& list_mutex();

  Counts counts() const {
    return {hits_.load(std::memory_order_relaxed), misses_.load(std::memory_order_relaxed),
            bytes_.load(std::memory_order_relaxed)};
  }

 private:
  friend class MagazineOwner;

  static constexpr std::size_t kSets = 16;
  static constexpr std::size_t kWays = 4;

  static Magazine* first();
  static std::size_t set_of(std::size_t length) {
    // Lengths differ in their page number or, below a page, in their last bits.
    const std::size_t mixed = length ^ (length >> 12) ^ (length >> 7);
    return mixed % kSets * kWays;
  }
  void count(std::atomic<std::uint64_t>& counter, std::size_t bytes) {
    // Only the owner writes, so these need no atomic addition.
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  std::array<std::atomic<Block*>, kSets * kWays> slots_ = {};
  // The owner's own note of what it put where; 0 for a slot that it emptied.
  std::array<std::size_t, kSets * kWays> lengths_ = {};
  std::size_t victim_ = 0;
  std::atomic<std::uint64_t> hits_ = 0;
  std::atomic<std::uint64_t> misses_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  Magazine* next_ = nullptr;
  std::atomic<bool> owned_ = false;
};

}  // namespace pewter::runtime
