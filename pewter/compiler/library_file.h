#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pewter/base/hash.h"
#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"

namespace pewter::compiler {

/// The bytes of a file in memory: mapped, so that what nobody reads is never loaded, or copied.
class FileBytes {
 public:
  /// Fails when the file cannot be read.
  static Result<std::shared_ptr<const FileBytes>> map(const std::string& path);
  static std::shared_ptr<const FileBytes> copy(std::span<const std::byte> bytes);

  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  FileBytes() = default;

  std::span<const std::byte> bytes_;
  std::vector<std::byte> own_;
  void* mapping_ = nullptr;
};

/// Reads the files that `pewter metal`, `metallib` and `metal-ar` write.
///
/// The table of contents is checked when a file is opened, a section when it is first read: a file
/// that was made by others, by another version or is damaged says so before anything in it is
/// believed.
class LibraryFile {
 public:
  /// `name` stands in messages.
  static Result<LibraryFile> open(std::shared_ptr<const FileBytes> file, const std::string& name);

  LibraryFileKind kind() const { return kind_; }
  std::size_t unit_count() const { return sections_.size() / kSectionsPerUnit; }

  /// Everything but the text and the recorded sources of a unit.
  Result<LibraryUnit> facts(std::size_t unit) const;
  Result<std::string> text(std::size_t unit) const;
  Result<std::vector<std::pair<std::string, std::string>>> sources(std::size_t unit) const;
  /// Stands for the text of a unit, without reading it.
  Digest text_digest(std::size_t unit) const;

 private:
  static constexpr std::size_t kSectionsPerUnit = 3;

  struct Section {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    Digest digest;
  };

  Result<std::span<const std::byte>> section(std::size_t number) const;

  std::shared_ptr<const FileBytes> file_;
  std::string name_;
  LibraryFileKind kind_ = LibraryFileKind::Library;
  std::vector<Section> sections_;
};

}  // namespace pewter::compiler
