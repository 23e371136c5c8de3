#pragma once

#include <pewter/memory_report.h>

#include <optional>
#include <string>

/// A file in shared memory through which a process shows its memory to others: one sample, written
/// over and over, between two writes of a sequence number that is odd meanwhile.
namespace pewter::runtime {

std::string default_sample_path(int process);

/// Nothing when the file is missing or is not one of these.
std::optional<MemorySample> read_sample(const std::string& path);

/// Starts to write samples if PEWTER_STATS asks for it and nobody has started yet; a thread does
/// the work every few milliseconds until the process ends. A child that is forked does not report.
void publish_samples();

}  // namespace pewter::runtime
