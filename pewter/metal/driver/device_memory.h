#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pewter::driver {

/// Zero-filled memory, counted by the device while it lives.
///
/// It begins at a page and has its last page to itself, as on Apple's devices: kernels that run a
/// little past a buffer, which works there, harm nothing here. A page or more lies between two
/// pages that no one may touch, so that running off either end is a fault, unless
/// `PEWTER_READ_PAST_END` lets kernels read so far; from 2 MiB on it asks for huge pages.
class DeviceMemory {
 public:
  /// Nothing, with a message in the log, when the machine has no more.
  static std::optional<DeviceMemory> allocate(std::uint64_t length);

  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  std::byte* data() const { return data_; }
  /// Bytes that are really taken, guard pages excepted.
  std::uint64_t size() const { return size_; }

  /// Makes the contents zero again, giving pages back to the system.
  void discard();

 private:
  DeviceMemory() = default;

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  // The mapping with its guard pages; null when the memory is of the pool or the C library's.
  void* mapping_ = nullptr;
  std::uint64_t mapping_size_ = 0;
  bool is_pooled_ = false;
};

/// Bytes of a page of the host.
std::uint64_t page_size();

}  // namespace pewter::driver
