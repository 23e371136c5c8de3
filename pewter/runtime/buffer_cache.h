#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pewter/runtime/block.h"

namespace pewter::runtime {

/// Cached blocks by length and by age: finding, adding and removing one costs the same however many
/// there are.
///
/// Up to a page every length has a bin of its own, found through bitmaps; above, every number of
/// pages has one. Not safe for several threads: the allocator's mutex guards it.
class BufferCache {
 public:
  explicit BufferCache(std::size_t page_size);

  /// Adds an idle block, whose `freed_at` gives its age.
  void put(Block* block);

  /// Removes and returns the smallest block of at least `size` and less than
  /// min(2 * size, size + 2 pages): a far larger one would pin memory that its owner never touches.
  /// Null when none fits.
  Block* take(std::size_t size);

  /// Whether there is a block of exactly that length.
  bool has_exact(std::size_t length) const;

  /// The block that was freed longest ago; null when there is none. `newer` leads on from it.
  Block* oldest() const { return oldest_; }
  void remove(Block* block);

  std::size_t bytes() const { return bytes_; }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kBinsPerChunk = 512;
  using Chunk = std::array<Block*, kBinsPerChunk>;

  Block* find_small(std::size_t size, std::size_t limit) const;
  Block* find_large(std::size_t size, std::size_t limit) const;
  Block* large_bin(std::size_t page_count) const;
  Block*& bin_of(std::size_t length);

  const std::size_t page_size_;
  std::vector<Block*> small_bins_;               // by length
  std::vector<std::uint64_t> small_used_;        // a bit for each bin that is not empty
  std::vector<std::uint64_t> small_used_words_;  // a bit for each word of small_used_ that is not 0
  std::vector<std::unique_ptr<Chunk>> large_bins_;  // by number of pages
  Block* oldest_ = nullptr;
  Block* newest_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

}  // namespace pewter::runtime
