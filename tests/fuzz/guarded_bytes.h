#pragma once

#include <cstddef>
#include <span>

namespace pewter::fuzz {

/// Memory that ends where nothing may be touched: a kernel that goes too far faults.
class GuardedBytes {
 public:
  /// A copy of `content`, aligned as every Metal type needs.
  explicit GuardedBytes(std::span<const std::byte> content);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  GuardedBytes(GuardedBytes&& other) noexcept;
  GuardedBytes& operator=(GuardedBytes&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pewter::fuzz
