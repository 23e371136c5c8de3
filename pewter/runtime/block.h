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

namespace pewter::runtime {

class Outcome;
class Stream;

enum class BlockState : std::uint8_t { Active, Cached, Adopted };

/// What few buffers have: names, stacks, and the device's work on them.
struct BlockDetails {
  struct Use {
    std::weak_ptr<Stream> stream;
    std::uint64_t task = 0;
    bool writes = false;
    std::shared_ptr<const Outcome> outcome;
  };

  std::mutex mutex;  // guards the members below
  std::string label;
  std::vector<void*> stack;
  std::vector<Use> uses;
};

/// The record of one buffer of the allocator, whether in use or cached.
///
/// It lives as long as Metal's buffer. While cached it belongs to one Magazine or to the
/// BufferCache; while in use, to the shares.
struct Block {
  ~Block() { delete details.load(std::memory_order_acquire); }

  /// Made at first use.
  BlockDetails& ensure_details() {
    BlockDetails* present = details.load(std::memory_order_acquire);
    if (present != nullptr) {
      return *present;
    }
    auto made = std::make_unique<BlockDetails>();
    return details.compare_exchange_strong(present, made.get()) ? *made.release() : *present;
  }

  std::atomic<std::uint32_t> shares = 0;
  std::atomic<BlockState> state = BlockState::Active;
  bool is_wired = false;  // guarded by the allocator's mutex
  std::size_t length = 0;
  std::byte* contents = nullptr;
  MTL::Buffer* metal = nullptr;
  /// What was asked for, at most `length`.
  std::atomic<std::size_t> requested = 0;
  /// Counts up with every free: small is long ago.
  std::uint64_t freed_at = 0;
  /// How many memory scopes had begun when it was allocated.
  std::atomic<std::uint64_t> scope = 0;
  std::atomic<BlockDetails*> details = nullptr;
  /// Called at the end of adopted memory; elsewhere when the end of a task brings it.
  std::function<void()> release;

  // Places in the cache and in the list of all blocks, guarded by the allocator's mutex.
  Block* older = nullptr;
  Block* newer = nullptr;
  Block* previous_in_bin = nullptr;
  Block* next_in_bin = nullptr;
  Block* previous_made = nullptr;
  Block* next_made = nullptr;
};

}  // namespace pewter::runtime
