#pragma once

#include <filesystem>
#include <string>

namespace pewter::test {

/// An empty directory of its own, deleted with everything in it at the end of the scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file into the directory and returns its full name.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

/// The whole content of a file; fails the test when it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace pewter::test
