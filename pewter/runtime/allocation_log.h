#pragma once

#include <cstddef>
#include <cstdint>

namespace pewter::runtime {

/// Writes what PYTORCH_DEBUG_MPS_ALLOCATOR asks for to standard error.
class AllocationLog {
 public:
  // The bits of the variable.
  static constexpr std::uint64_t kTotals = 1;
  static constexpr std::uint64_t kAllocations = 2;
  static constexpr std::uint64_t kReuse = 4;
  static constexpr std::uint64_t kReleases = 8;
  static constexpr std::uint64_t kLarge = 16;

  AllocationLog();

  bool enabled() const { return bits_ != 0; }
  void allocated(std::size_t length, std::size_t active, std::size_t driver_total) const;
  void reused(std::size_t length, std::size_t size, std::size_t active) const;
  void released(std::size_t length, std::size_t cached) const;

 private:
  bool wants(std::uint64_t bit, std::size_t length) const;

  std::uint64_t bits_ = 0;
};

}  // namespace pewter::runtime
