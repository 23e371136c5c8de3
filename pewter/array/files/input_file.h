#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace pewter::files {

/// A file of known length that is read at positions which are checked against it.
class InputFile {
 public:
  /// Throws FileError for what is not a file or cannot be read.
  explicit InputFile(const std::filesystem::path& path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Fills `bytes` from `offset`. Throws FileError when the file ends before that.
  void read(std::uint64_t offset, std::span<std::byte> bytes);
  std::string read_text(std::uint64_t offset, std::size_t count);

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  std::ifstream stream_;
};

}  // namespace pewter::files
