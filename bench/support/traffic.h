#pragma once

#include <cstddef>

/// Memory traffic on all cores and nothing else: what memory alone lets a work reach.
namespace bench {

/// Returns the sum, because something has to become of what is read.
float read_traffic(const float* from, std::size_t count);
void copy_traffic(const float* from, float* to, std::size_t count);
/// Reads two arrays and writes a third.
void join_traffic(const float* a, const float* b, float* to, std::size_t count);
/// Reads two arrays and writes the second.
void update_traffic(const float* from, float* to, std::size_t count);

}  // namespace bench
