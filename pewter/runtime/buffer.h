#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <string>
#include <utility>

namespace pewter::runtime {

struct Block;

/// A share in one buffer of the allocator; the last share to go gives the buffer back.
///
/// Handing shares between threads is safe, as with std::shared_ptr. The bytes themselves are
/// unprotected: whoever still runs work on them must hold a share (Stream::use does).
class Buffer {
 public:
  /// Null: what a request for 0 bytes gets.
  Buffer() = default;
  Buffer(const Buffer& other) noexcept : block_(other.block_) { retain(); }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(const Buffer& other) noexcept {
    Buffer(other).swap(*this);
    return *this;
  }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() { reset(); }

  explicit operator bool() const { return block_ != nullptr; }
  friend bool operator==(const Buffer&, const Buffer&) = default;

  void reset() noexcept;
  void swap(Buffer& other) noexcept { std::swap(block_, other.block_); }

  /// Metal's buffer; null for a null buffer and in a process without a device. Valid while a share
  /// lives.
  MTL::Buffer* metal() const;
  /// Where the host sees the bytes.
  std::byte* contents() const;
  /// Bytes that are reserved: what was asked for, or more.
  std::size_t length() const;
  /// Whether this is the only share.
  bool unique() const;

  /// The name that allocation snapshots show until the buffer is freed.
  void set_label(std::string label) const;

  /// Waits until the device has done everything that uses these bytes. Throws what the work that
  /// writes them failed with, unless that has been seen.
  void synchronize() const;

  /// For the allocator and streams.
  Block* block() const { return block_; }
  static Buffer from_block(Block* block) { return Buffer(block); }

 private:
  explicit Buffer(Block* block) : block_(block) {}
  void retain() const noexcept;

  Block* block_ = nullptr;
};

}  // namespace pewter::runtime
