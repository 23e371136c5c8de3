#include "pewter/compiler/library_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "pewter/compiler/artifact.h"

namespace pewter::compiler {
namespace {

constexpr std::string_view kMagic = "PEWTERML";
/// Raised when the layout of files, or of what is in them, changes.
constexpr std::uint32_t kVersion = 3;
constexpr std::uint64_t kMaxUnits = 65536;

/// The start of a file, followed by its table of contents and the digest of both.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t kind;
  std::uint64_t section_count;
};

/// One entry of the table of contents.
struct Entry {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t digest[2];
};

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

bool starts_with(std::span<const std::byte> bytes, std::string_view start) {
  return bytes.size() >= start.size() && std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

/// Why bytes that do not begin as ours do are refused.
std::string foreign(std::span<const std::byte> bytes) {
  if (starts_with(bytes, "MTLB")) {
    return "a library made by Apple's compiler, for Apple's devices; compile its source with "
           "'pewter metal'";
  }
  if (starts_with(bytes, "BC\xc0\xde") || starts_with(bytes, "\xde\xc0\x17\x0b")) {
    return "LLVM bitcode, as Apple's compiler makes; compile its source with 'pewter metal'";
  }
  return bytes.empty() ? "empty" : "no library made by pewter";
}

}  // namespace

Result<std::shared_ptr<const FileBytes>> FileBytes::map(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return failure(fmt::format("'{}': {}", path, std::strerror(errno)));
  }
  struct stat status = {};
  const bool is_file = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  std::shared_ptr<FileBytes> result(new FileBytes);
  if (is_file && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping != MAP_FAILED) {
      result->mapping_ = mapping;
      result->bytes_ = {static_cast<const std::byte*>(mapping), size};
    }
  }
  ::close(file);
  if (!is_file || (status.st_size > 0 && result->mapping_ == nullptr)) {
    return failure(fmt::format("'{}': {}", path, is_file ? "cannot be mapped" : "not a file"));
  }
  return std::shared_ptr<const FileBytes>(std::move(result));
}

std::shared_ptr<const FileBytes> FileBytes::copy(std::span<const std::byte> bytes) {
  std::shared_ptr<FileBytes> result(new FileBytes);
  result->own_.assign(bytes.begin(), bytes.end());
  result->bytes_ = result->own_;
  return result;
}

FileBytes::~FileBytes() {
  if (mapping_ != nullptr) {
    ::munmap(mapping_, bytes_.size());
  }
}

std::vector<std::byte> write_library_file(LibraryFileKind kind,
                                          const std::vector<LibraryUnit>& units) {
  std::vector<std::vector<std::byte>> sections;
  for (const LibraryUnit& unit : units) {
    const auto text = as_bytes(unit.text);
    sections.push_back(serialise_facts(unit));
    sections.emplace_back(text.begin(), text.end());
    sections.push_back(serialise_sources(unit.sources));
  }
  Header header = {};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.version = kVersion;
  header.kind = static_cast<std::uint32_t>(kind);
  header.section_count = sections.size();
  std::vector<std::byte> bytes;
  const auto append = [&](const void* data, std::size_t size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + size);
    if (size != 0) {
      std::memcpy(bytes.data() + before, data, size);
    }
  };
  append(&header, sizeof header);
  std::uint64_t offset =
      sizeof header + sections.size() * sizeof(Entry) + 2 * sizeof(std::uint64_t);
  for (const auto& section : sections) {
    const Digest digest = digest_of(section);
    const Entry entry = {offset, section.size(), {digest.high, digest.low}};
    append(&entry, sizeof entry);
    offset += section.size();
  }
  const Digest contents = digest_of(bytes);
  append(&contents.high, sizeof contents.high);
  append(&contents.low, sizeof contents.low);
  for (const auto& section : sections) {
    append(section.data(), section.size());
  }
  return bytes;
}

Result<LibraryFile> LibraryFile::open(std::shared_ptr<const FileBytes> file,
                                      const std::string& name) {
  const std::span<const std::byte> bytes = file->bytes();
  const auto refuse = [&](const std::string& reason) {
    return failure(fmt::format("'{}' is {}", name, reason));
  };
  if (!starts_with(bytes, kMagic)) {
    return refuse(foreign(bytes));
  }
  Header header = {};
  if (bytes.size() < sizeof header) {
    return refuse("damaged: it ends in its header");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) {
    return refuse(
        fmt::format("of version {} of pewter's library files, this is version {}; compile it again",
                    header.version, kVersion));
  }
  const std::uint64_t count = header.section_count;
  const std::uint64_t contents_size = sizeof header + count * sizeof(Entry);
  if (count > kMaxUnits * kSectionsPerUnit || count % kSectionsPerUnit != 0 ||
      bytes.size() < contents_size + 2 * sizeof(std::uint64_t) ||
      header.kind > static_cast<std::uint32_t>(LibraryFileKind::Archive)) {
    return refuse("damaged: its table of contents is cut off or nonsense");
  }
  Digest stored;
  std::memcpy(&stored.high, bytes.data() + contents_size, sizeof stored.high);
  std::memcpy(&stored.low, bytes.data() + contents_size + sizeof stored.high, sizeof stored.low);
  if (stored != digest_of(bytes.first(contents_size))) {
    return refuse("damaged: the checksum of its table of contents does not fit");
  }
  LibraryFile result;
  for (std::uint64_t number = 0; number < count; ++number) {
    Entry entry = {};
    std::memcpy(&entry, bytes.data() + sizeof header + number * sizeof entry, sizeof entry);
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
      return refuse("damaged: it is shorter than its table of contents says");
    }
    result.sections_.push_back({entry.offset, entry.size, {entry.digest[0], entry.digest[1]}});
  }
  result.file_ = std::move(file);
  result.name_ = name;
  result.kind_ = static_cast<LibraryFileKind>(header.kind);
  return result;
}

Result<std::span<const std::byte>> LibraryFile::section(std::size_t number) const {
  const Section& wanted = sections_[number];
  const auto bytes = file_->bytes().subspan(wanted.offset, wanted.size);
  if (digest_of(bytes) != wanted.digest) {
    return failure(
        fmt::format("'{}' is damaged: the checksum of section {} does not fit", name_, number));
  }
  return bytes;
}

Result<LibraryUnit> LibraryFile::facts(std::size_t unit) const {
  const auto bytes = section(unit * kSectionsPerUnit);
  if (!bytes) {
    return bytes.error();
  }
  auto facts = parse_facts(*bytes);
  if (!facts) {
    return failure(fmt::format("'{}' is damaged: unit {} cannot be read", name_, unit));
  }
  return std::move(*facts);
}

Result<std::string> LibraryFile::text(std::size_t unit) const {
  const auto bytes = section(unit * kSectionsPerUnit + 1);
  if (!bytes) {
    return bytes.error();
  }
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<std::vector<std::pair<std::string, std::string>>> LibraryFile::sources(
    std::size_t unit) const {
  const auto bytes = section(unit * kSectionsPerUnit + 2);
  if (!bytes) {
    return bytes.error();
  }
  auto sources = parse_sources(*bytes);
  if (!sources) {
    return failure(fmt::format("'{}' is damaged: sources of unit {} cannot be read", name_, unit));
  }
  return std::move(*sources);
}

Digest LibraryFile::text_digest(std::size_t unit) const {
  return sections_[unit * kSectionsPerUnit + 1].digest;
}

}  // namespace pewter::compiler
