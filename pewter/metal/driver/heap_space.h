#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace pewter::driver {

/// Which parts of a heap are free. Not safe to use from several threads.
class HeapSpace {
 public:
  explicit HeapSpace(std::uint64_t size);

  /// The offset of `size` bytes, a multiple of `alignment`, from the smallest gap that has room.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);
  void give_back(std::uint64_t offset, std::uint64_t size);

  std::uint64_t used() const { return used_; }
  /// The most that take() could give with that alignment.
  std::uint64_t largest(std::uint64_t alignment) const;

 private:
  std::map<std::uint64_t, std::uint64_t> gaps_;  // offset to size; neighbours are merged
  std::uint64_t used_ = 0;
};

}  // namespace pewter::driver
