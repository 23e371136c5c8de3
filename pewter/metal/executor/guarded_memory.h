#pragma once

#include <cstddef>
#include <cstdint>

namespace pewter::executor {

/// Bytes of a page on this machine.
std::size_t page_bytes();

/// Equal pieces of memory with an inaccessible region below each and above the last.
///
/// Pages cost nothing until they are touched.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;

  /// `count` pieces of at least `piece_bytes`, with guards of at least `guard_bytes`. Empty when
  /// memory is out.
  static GuardedMemory allocate(std::size_t count,
                                std::size_t piece_bytes,
                                std::size_t guard_bytes);

  explicit operator bool() const { return base_ != nullptr; }
  std::size_t piece_bytes() const { return piece_bytes_; }
  std::byte* begin(std::size_t piece) const {
    return base_ + piece * (guard_bytes_ + piece_bytes_) + guard_bytes_;
  }
  std::byte* end(std::size_t piece) const { return begin(piece) + piece_bytes_; }

  /// Whether an address lies in one of the inaccessible regions. Safe in a signal handler.
  bool is_guard(std::uintptr_t address) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t total_bytes_ = 0;
  std::size_t piece_bytes_ = 0;
  std::size_t guard_bytes_ = 0;
};

}  // namespace pewter::executor
