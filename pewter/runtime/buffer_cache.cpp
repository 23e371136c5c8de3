#include "pewter/runtime/buffer_cache.h"

#include <algorithm>
#include <bit>

namespace pewter::runtime {
namespace {

constexpr std::size_t kWordBits = 64;

/// The first set bit at or after `from`; the number of bits when there is none.
std::size_t next_set(const std::vector<std::uint64_t>& words, std::size_t from) {
  std::size_t word = from / kWordBits;
  if (word >= words.size()) {
    return words.size() * kWordBits;
  }
  std::uint64_t bits = words[word] & (~std::uint64_t{0} << (from % kWordBits));
  while (bits == 0) {
    if (++word == words.size()) {
      return words.size() * kWordBits;
    }
    bits = words[word];
  }
  return word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits));
}

void assign(std::vector<std::uint64_t>& words, std::size_t index, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << (index % kWordBits);
  std::uint64_t& word = words[index / kWordBits];
  word = value ? word | bit : word & ~bit;
}

}  // namespace

BufferCache::BufferCache(std::size_t page_size)
    : page_size_(page_size),
      small_bins_(page_size + 1),
      small_used_(page_size / kWordBits + 1),
      small_used_words_(small_used_.size() / kWordBits + 1) {}

Block* BufferCache::large_bin(std::size_t page_count) const {
  const std::size_t chunk = page_count / kBinsPerChunk;
  if (chunk >= large_bins_.size() || large_bins_[chunk] == nullptr) {
    return nullptr;
  }
  return (*large_bins_[chunk])[page_count % kBinsPerChunk];
}

Block*& BufferCache::bin_of(std::size_t length) {
  if (length <= page_size_) {
    return small_bins_[length];
  }
  const std::size_t page_count = length / page_size_;
  const std::size_t chunk = page_count / kBinsPerChunk;
  if (chunk >= large_bins_.size()) {
    large_bins_.resize(chunk + 1);
  }
  if (large_bins_[chunk] == nullptr) {
    large_bins_[chunk] = std::make_unique<Chunk>();
  }
  return (*large_bins_[chunk])[page_count % kBinsPerChunk];
}

void BufferCache::put(Block* block) {
  Block*& bin = bin_of(block->length);
  block->previous_in_bin = nullptr;
  block->next_in_bin = bin;
  if (bin != nullptr) {
    bin->previous_in_bin = block;
  }
  bin = block;
  if (block->length <= page_size_) {
    assign(small_used_, block->length, true);
    assign(small_used_words_, block->length / kWordBits, true);
  }

  // Blocks come nearly in the order of their ages: those of another thread's magazine a little
  // late.
  Block* before = newest_;
  while (before != nullptr && before->freed_at > block->freed_at) {
    before = before->older;
  }
  block->older = before;
  block->newer = before != nullptr ? before->newer : oldest_;
  (block->older != nullptr ? block->older->newer : oldest_) = block;
  (block->newer != nullptr ? block->newer->older : newest_) = block;

  bytes_ += block->length;
  ++count_;
}

void BufferCache::remove(Block* block) {
  if (block->previous_in_bin != nullptr) {
    block->previous_in_bin->next_in_bin = block->next_in_bin;
  } else {
    bin_of(block->length) = block->next_in_bin;
  }
  if (block->next_in_bin != nullptr) {
    block->next_in_bin->previous_in_bin = block->previous_in_bin;
  }
  if (block->length <= page_size_ && small_bins_[block->length] == nullptr) {
    assign(small_used_, block->length, false);
    if (small_used_[block->length / kWordBits] == 0) {
      assign(small_used_words_, block->length / kWordBits, false);
    }
  }

  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  block->older = nullptr;
  block->newer = nullptr;
  block->previous_in_bin = nullptr;
  block->next_in_bin = nullptr;

  bytes_ -= block->length;
  --count_;
}

Block* BufferCache::find_small(std::size_t size, std::size_t limit) const {
  std::size_t length = size;
  if ((small_used_[size / kWordBits] >> (size % kWordBits)) == 0) {
    // Nothing in the rest of its word: on to the next word that has something.
    const std::size_t word = next_set(small_used_words_, size / kWordBits + 1);
    length = word * kWordBits;
  }
  length = std::min(next_set(small_used_, length), limit);
  return length < limit && length <= page_size_ ? small_bins_[length] : nullptr;
}

Block* BufferCache::find_large(std::size_t size, std::size_t limit) const {
  for (std::size_t page_count = size / page_size_; page_count * page_size_ < limit; ++page_count) {
    const std::size_t least = std::max(size, page_count * page_size_);
    Block* best = nullptr;
    for (Block* block = large_bin(page_count); block != nullptr; block = block->next_in_bin) {
      const bool fits = block->length >= size && block->length < limit;
      if (fits && (best == nullptr || block->length < best->length)) {
        best = block;
      }
      if (best != nullptr && best->length == least) {
        break;
      }
    }
    if (best != nullptr) {
      return best;
    }
  }
  return nullptr;
}

Block* BufferCache::take(std::size_t size) {
  const std::size_t limit = std::min(2 * size, size + 2 * page_size_);
  Block* block = size <= page_size_ ? find_small(size, limit) : nullptr;
  if (block == nullptr && limit > page_size_ + 1) {
    block = find_large(std::max(size, page_size_ + 1), limit);
  }
  if (block != nullptr) {
    remove(block);
  }
  return block;
}

bool BufferCache::has_exact(std::size_t length) const {
  if (length <= page_size_) {
    return small_bins_[length] != nullptr;
  }
  // With page rounding every block of a bin has the same length; without, the first may be another.
  const Block* block = large_bin(length / page_size_);
  return block != nullptr && block->length == length;
}

}  // namespace pewter::runtime
