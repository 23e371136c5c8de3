#pragma once

#include <pewter/memory_report.h>

#include <cstdint>
#include <string>

#include "pewter/runtime/allocator.h"

namespace pewter::runtime {

/// Follows what happens to memory from its making on; see pewter::MemoryScope.
class MemoryScope {
 public:
  explicit MemoryScope(std::string name);
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
  ~MemoryScope();

  MemoryScopeReport report() const;

 private:
  const std::string name_;
  const std::size_t active_at_start_;
  const AllocationCounts counts_at_start_;
  PeakTracker::Mark mark_;
  std::uint64_t number_ = 0;
};

}  // namespace pewter::runtime
