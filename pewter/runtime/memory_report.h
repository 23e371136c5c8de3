#pragma once

#include <pewter/memory_report.h>

#include <string>

#include "pewter/runtime/block.h"

namespace pewter::runtime {

/// Safe to call from any thread; the counters and the list may differ by what other threads do
/// meanwhile.
MemorySnapshot memory_snapshot();

MemoryReconciliation reconcile_memory();

/// With its label and stack.
AllocationRecord describe(Block& block);

std::string to_text(const MemorySnapshot& snapshot);
std::string to_json(const MemorySnapshot& snapshot);
std::string to_text(const MemoryScopeReport& report);
std::string to_json(const MemoryScopeReport& report);

}  // namespace pewter::runtime
