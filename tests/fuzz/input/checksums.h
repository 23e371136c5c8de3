#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Makes the checksums of changed files right again, so that what stands behind them is reached.
/// Knows the layouts of the files, and does nothing to bytes that are too short for them.
namespace pewter::fuzz {

/// What `pewter metal` and `metallib` write.
void repair_library_file(std::span<std::uint8_t> file);
/// What CodeArchive::write writes.
void repair_archive(std::span<std::uint8_t> file);
/// An entry of the disk cache.
void repair_cache_entry(std::span<std::uint8_t> file);

}  // namespace pewter::fuzz
