#pragma once

#include <cstddef>
#include <cstdint>

namespace pewter::runtime {

/// Writes what PYTORCH_DEBUG_MPS_ALLOCATOR asks for to standard error.
class AllocationLog {
 public:
  enum Bits : std::uint64_t {
    kTotals = 1,
    kAllocations = 2,
    kReuse = 4,
    kReleases = 8,
    kLarge = 16
  };

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
