#pragma once

#include <pewter/export.h>
#include <pewter/memory_report.h>

#include <optional>
#include <string>

/// How a process that was started with PEWTER_STATS lets others watch its memory.
namespace pewter {

/// Where the process keeps its newest sample when PEWTER_STATS is 1. Any other value is the file's
/// own path.
PEWTER_EXPORT std::string memory_sample_path(int process);

/// The newest sample in the file; nothing when there is none.
PEWTER_EXPORT std::optional<MemorySample> read_memory_sample(const std::string& path);

}  // namespace pewter
