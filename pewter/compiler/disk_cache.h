#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "pewter/base/hash.h"
#include "pewter/base/result.h"

namespace pewter::compiler {

/// Bytes by content hash, in a folder that many processes may share.
///
/// Entries appear whole or not at all; one that is damaged counts as missing. When the folder
/// passes its limit, the entries that were not used for longest go. Nothing here fails loudly: a
/// cache that cannot work is a slow cache. Safe to use from any thread.
class DiskCache {
 public:
  DiskCache(std::filesystem::path directory, std::uint64_t limit_bytes);

  /// The cache of this user: `PEWTER_CACHE_DIR`, or `pewter` under the XDG cache directory.
  /// `PEWTER_CACHE=0` turns it off, `PEWTER_CACHE_LIMIT_MB` limits it.
  static DiskCache& shared();

  std::optional<std::vector<std::byte>> load(const Digest& key);
  void store(const Digest& key, std::span<const std::byte> bytes);

  /// Deletes every entry; returns the bytes that freed.
  Result<std::uint64_t> clear();

  struct Usage {
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
  };
  Usage usage() const;

  bool enabled() const { return !directory_.empty(); }
  const std::filesystem::path& directory() const { return directory_; }
  std::uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  std::filesystem::path path(const Digest& key) const;
  void trim();

  const std::filesystem::path directory_;
  const std::uint64_t limit_bytes_;
  /// Bytes written since the folder was last measured; the folder is measured again when they add
  /// up.
  std::atomic<std::uint64_t> unmeasured_bytes_;
};

}  // namespace pewter::compiler
