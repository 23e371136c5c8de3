#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pewter/array/files/input_file.h"

namespace pewter::files {

/// The entries of a ZIP archive, stored or deflated, with 64-bit sizes.
///
/// Everything that the archive says is checked against the file before it is believed: places,
/// sizes, that no two entries share bytes, and that an entry does not claim more than its
/// compressed bytes could give. Whatever is wrong throws FileError.
class ZipReader {
 public:
  explicit ZipReader(const std::filesystem::path& path);

  struct Entry {
    std::string name;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
    bool is_deflated = false;
    /// Where its local header is, and its data.
    std::uint64_t header_offset = 0;
    std::uint64_t data_offset = 0;
  };
  const std::vector<Entry>& entries() const { return entries_; }

  /// Gives the content piece by piece: each call of the source fills a span with what comes next.
  /// `use` must take all of it; then the checksum is compared.
  void read(const Entry& entry,
            const std::function<void(const std::function<void(std::span<std::byte>)>&)>& use);

  const std::string& path() const { return file_.path(); }

 private:
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };

  Directory find_directory();
  Directory wide_directory(std::uint64_t end_offset);
  void read_directory(const Directory& directory);
  void locate(Entry& entry, std::uint64_t directory_offset);
  void refuse_overlaps() const;

  InputFile file_;
  std::vector<Entry> entries_;
};

}  // namespace pewter::files
