#pragma once

#include <pewter/export.h>

#include <cstdint>
#include <string>

namespace pewter {

/// The cache of compiled kernels on disk.
struct CacheStatus {
  std::string directory;
  bool enabled = true;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  /// The oldest entries are deleted when the cache grows past this.
  std::uint64_t limit_bytes = 0;
};

PEWTER_EXPORT CacheStatus cache_status();

/// Deletes every entry and returns how many bytes that freed. Throws std::runtime_error when an
/// entry cannot be deleted.
PEWTER_EXPORT std::uint64_t clear_kernel_cache();

}  // namespace pewter
