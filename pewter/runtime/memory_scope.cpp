#include "pewter/runtime/memory_scope.h"

#include <utility>

#include "pewter/runtime/memory_report.h"

namespace pewter::runtime {

MemoryScope::MemoryScope(std::string name)
    : name_(std::move(name)),
      active_at_start_(allocator().active()),
      counts_at_start_(allocator().counts()),
      number_(allocator().begin_scope(mark_)) {}

MemoryScope::~MemoryScope() {
  allocator().end_scope(mark_);
}

MemoryScopeReport MemoryScope::report() const {
  Allocator& memory = allocator();
  const AllocationCounts counts = memory.counts();
  MemoryScopeReport report;
  report.name = name_;
  report.active_at_start = active_at_start_;
  report.active_at_end = memory.active();
  report.peak = memory.scope_peak(mark_);
  report.cache_hits = counts.hits - counts_at_start_.hits;
  report.cache_misses = counts.misses - counts_at_start_.misses;
  report.allocated = counts.bytes - counts_at_start_.bytes;
  memory.for_each_block([&](Block& block) {
    const bool in_use = block.state.load(std::memory_order_relaxed) != BlockState::Cached;
    if (in_use && block.scope.load(std::memory_order_relaxed) >= number_) {
      report.leaks.push_back(describe(block));
      report.leaked += block.length;
    }
  });
  return report;
}

}  // namespace pewter::runtime
