#include "pewter/metal/driver/heap_space.h"

#include <algorithm>
#include <iterator>

namespace pewter::driver {
namespace {

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

HeapSpace::HeapSpace(std::uint64_t size) {
  gaps_.emplace(0, size);
}

std::optional<std::uint64_t> HeapSpace::take(std::uint64_t size, std::uint64_t alignment) {
  auto best = gaps_.end();
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const std::uint64_t waste = aligned(gap->first, alignment) - gap->first;
    if (waste <= gap->second && size <= gap->second - waste &&
        (best == gaps_.end() || gap->second < best->second)) {
      best = gap;
    }
  }
  if (best == gaps_.end()) {
    return std::nullopt;
  }

  const auto [begin, length] = *best;
  const std::uint64_t offset = aligned(begin, alignment);
  gaps_.erase(best);
  if (offset > begin) {
    gaps_.emplace(begin, offset - begin);
  }
  if (offset + size < begin + length) {
    gaps_.emplace(offset + size, begin + length - offset - size);
  }
  used_ += size;
  return offset;
}

void HeapSpace::give_back(std::uint64_t offset, std::uint64_t size) {
  used_ -= size;
  auto next = gaps_.lower_bound(offset);
  if (next != gaps_.end() && next->first == offset + size) {
    size += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return;
    }
  }
  gaps_.emplace(offset, size);
}

std::uint64_t HeapSpace::largest(std::uint64_t alignment) const {
  std::uint64_t most = 0;
  for (const auto& [begin, length] : gaps_) {
    const std::uint64_t waste = aligned(begin, alignment) - begin;
    most = std::max(most, length > waste ? length - waste : 0);
  }
  return most;
}

}  // namespace pewter::driver
