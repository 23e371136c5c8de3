#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace pewter::files {

/// Writes a ZIP archive. Throws FileError when that fails.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path);

  /// Throws for a name that no entry can have; nothing needs to be written for it.
  static void expect_name(const std::filesystem::path& path, const std::string& name);

  /// Adds an entry whose content is `head` and then `body`.
  void add(const std::string& name,
           std::string_view head,
           std::span<const std::byte> body,
           bool is_deflated);
  /// Writes the directory. Without it the file is none.
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
    bool is_deflated = false;
    std::uint64_t offset = 0;
  };

  void write(std::string_view text);
  static std::string common_fields(const Entry& entry, bool is_wide);

  std::string path_;
  std::ofstream stream_;
  std::uint64_t written_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace pewter::files
