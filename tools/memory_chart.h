#pragma once

#include <pewter/memory_report.h>

#include <cstddef>
#include <string>
#include <vector>

namespace pewter::tools {

/// Memory over time as lines of text: a column for each stretch of time, `width` of them, with what
/// is active at the bottom, what is cached above, and the rest of the driver's total on top.
std::string memory_chart(const std::vector<MemorySample>& samples,
                         std::size_t width,
                         std::size_t height);

/// The largest values of the samples, a line each.
std::string memory_summary(const std::vector<MemorySample>& samples);

/// The samples as a JSON array of objects.
std::string memory_json(const std::vector<MemorySample>& samples);

}  // namespace pewter::tools
