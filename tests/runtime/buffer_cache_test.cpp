#include "pewter/runtime/buffer_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

using pewter::runtime::Block;
using pewter::runtime::BufferCache;

namespace {

constexpr std::size_t kPage = 4096;

/// Blocks without memory: the cache looks at lengths and ages only.
class Blocks {
 public:
  Block* make(std::size_t length) {
    Block& block = blocks_.emplace_back();
    block.length = length;
    block.freed_at = ++frees_;
    return &block;
  }

 private:
  std::deque<Block> blocks_;
  std::uint64_t frees_ = 0;
};

}  // namespace

TEST_CASE("the cache gives the smallest block in the window") {
  Blocks blocks;
  BufferCache cache(kPage);
  cache.put(blocks.make(4000));
  cache.put(blocks.make(2100));
  Block* best = blocks.make(2050);
  cache.put(best);

  CHECK(cache.take(2048) == best);
  CHECK(cache.take(2000)->length == 2100);
  CHECK(cache.take(2000) == nullptr);
  CHECK(cache.take(2001)->length == 4000);
  CHECK(cache.count() == 0);
  CHECK(cache.bytes() == 0);
}

TEST_CASE("large blocks are reused up to less than two pages above the request") {
  Blocks blocks;
  BufferCache cache(kPage);
  cache.put(blocks.make(100 * kPage));

  CHECK(cache.take(98 * kPage) == nullptr);
  CHECK(cache.take(101 * kPage) == nullptr);
  CHECK(cache.take(99 * kPage) != nullptr);
}

TEST_CASE("the cache keeps the order of frees, also for blocks that come late") {
  Blocks blocks;
  BufferCache cache(kPage);
  Block* first = blocks.make(10);
  Block* second = blocks.make(20);
  Block* third = blocks.make(30);
  cache.put(third);
  cache.put(first);
  cache.put(second);

  CHECK(cache.oldest() == first);
  CHECK(first->newer == second);
  CHECK(second->newer == third);
  CHECK(third->newer == nullptr);
}

TEST_CASE("random puts and takes agree with a linear search") {
  Blocks blocks;
  BufferCache cache(kPage);
  std::vector<Block*> model;
  std::mt19937 random(17);
  const std::vector<std::size_t> scales = {1, 64, 256, kPage, kPage + 1, 40 * kPage, 3000 * kPage};
  const auto any_length = [&] {
    const std::size_t scale = scales[random() % scales.size()];
    return scale + random() % scale;
  };

  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      Block* block = blocks.make(any_length());
      cache.put(block);
      model.push_back(block);
      continue;
    }
    const std::size_t size = any_length();
    const std::size_t limit = std::min(2 * size, size + 2 * kPage);
    std::size_t best = limit;
    for (const Block* block : model) {
      if (block->length >= size) {
        best = std::min(best, block->length);
      }
    }
    Block* taken = cache.take(size);
    REQUIRE((taken != nullptr ? taken->length : limit) == best);
    std::erase(model, taken);
  }
  CHECK(cache.count() == model.size());
}
