#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/artifact.h"
#include "pewter/compiler/compiler.h"
#include "pewter/compiler/library_file.h"

namespace pewter::compiler {
namespace {

constexpr std::string_view kMagic = "PEWTERBA";
/// Raised when the layout of files, or of what is in them, changes.
constexpr std::uint32_t kVersion = 3;

/// The start of a file, followed by its table of contents and the digest of both.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t abi_version;
  /// What the code runs on, filled up with zeros.
  char cpu[48];
  std::uint64_t entry_count;
};

struct Entry {
  std::uint64_t key[2];
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t digest[2];
};

using Key = std::pair<std::uint64_t, std::uint64_t>;

Key key_of(const Digest& digest) {
  return {digest.high, digest.low};
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

class Archive : public CodeArchive {
 public:
  Archive() = default;

  static Result<std::shared_ptr<CodeArchive>> open(std::shared_ptr<const FileBytes> file,
                                                   const std::string& name) {
    const std::span<const std::byte> bytes = file->bytes();
    const auto refuse = [&](const std::string& reason) {
      return failure(fmt::format("'{}' is {}", name, reason));
    };
    if (bytes.size() < kMagic.size() ||
        std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
      return refuse(bytes.empty() ? "empty" : "no binary archive made by pewter");
    }
    Header header = {};
    if (bytes.size() < sizeof header) {
      return refuse("damaged: it ends in its header");
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.version != kVersion || header.abi_version != abi::kKernelAbiVersion) {
      return refuse(fmt::format(
          "of version {}.{} of pewter's binary archives, this is version {}.{}; make it again",
          header.version, header.abi_version, kVersion, abi::kKernelAbiVersion));
    }
    const std::uint64_t room = bytes.size() - sizeof header;
    const std::uint64_t count = header.entry_count;
    if (count > room / sizeof(Entry) || room - count * sizeof(Entry) < 2 * sizeof(std::uint64_t)) {
      return refuse("damaged: its table of contents is cut off or nonsense");
    }
    const std::uint64_t contents_size = sizeof header + count * sizeof(Entry);
    Digest stored;
    std::memcpy(&stored.high, bytes.data() + contents_size, sizeof stored.high);
    std::memcpy(&stored.low, bytes.data() + contents_size + sizeof stored.high, sizeof stored.low);
    if (stored != digest_of(bytes.first(contents_size))) {
      return refuse("damaged: the checksum of its table of contents does not fit");
    }
    const std::string cpu(header.cpu, strnlen(header.cpu, sizeof header.cpu));
    if (cpu != target_cpu()) {
      return refuse(
          fmt::format("for processors of level {}, this is {}; make it again", cpu, target_cpu()));
    }
    auto archive = std::make_shared<Archive>();
    for (std::uint64_t number = 0; number < count; ++number) {
      Entry entry = {};
      std::memcpy(&entry, bytes.data() + sizeof header + number * sizeof entry, sizeof entry);
      if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
        return refuse("damaged: it is shorter than its table of contents says");
      }
      archive->stored_[{entry.key[0], entry.key[1]}] = entry;
    }
    archive->file_ = std::move(file);
    archive->name_ = name;
    return std::shared_ptr<CodeArchive>(std::move(archive));
  }

  Result<std::shared_ptr<const KernelCode>> find(const Digest& key) override {
    std::scoped_lock lock(mutex_);
    if (const auto known = codes_.find(key_of(key)); known != codes_.end()) {
      return known->second;
    }
    const auto entry = stored_.find(key_of(key));
    if (entry == stored_.end()) {
      return std::shared_ptr<const KernelCode>();
    }
    const auto bytes = file_->bytes().subspan(entry->second.offset, entry->second.size);
    auto code = digest_of(bytes) == Digest{entry->second.digest[0], entry->second.digest[1]}
                    ? parse_kernel_code(bytes)
                    : std::nullopt;
    if (!code) {
      return failure(
          fmt::format("'{}' is damaged: the checksum of a kernel in it does not fit", name_));
    }
    return codes_[key_of(key)] = std::make_shared<const KernelCode>(std::move(*code));
  }

  void add(const Digest& key, const std::shared_ptr<const KernelCode>& code) override {
    std::scoped_lock lock(mutex_);
    codes_[key_of(key)] = code;
  }

  std::size_t size() const override {
    std::scoped_lock lock(mutex_);
    std::size_t count = stored_.size();
    for (const auto& [key, code] : codes_) {
      count += stored_.count(key) == 0 ? 1 : 0;
    }
    return count;
  }

  Result<void> write(const std::string& path) const override {
    const std::vector<std::byte> bytes = file_bytes();
    // A reader sees the old file or the new one, never a part.
    const std::string temporary =
        fmt::format("{}.{:x}.part", path, reinterpret_cast<std::uintptr_t>(this));
    {
      std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
      stream.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
      stream.close();
      if (!stream) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        return failure(fmt::format("'{}' cannot be written", path));
      }
    }
    std::error_code problem;
    std::filesystem::rename(temporary, path, problem);
    if (problem) {
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      return failure(fmt::format("'{}' cannot be written: {}", path, problem.message()));
    }
    return {};
  }

 private:
  std::vector<std::byte> file_bytes() const {
    std::scoped_lock lock(mutex_);
    std::map<Key, std::vector<std::byte>> sections;
    for (const auto& [key, entry] : stored_) {
      const auto bytes = file_->bytes().subspan(entry.offset, entry.size);
      sections[key].assign(bytes.begin(), bytes.end());
    }
    for (const auto& [key, code] : codes_) {
      sections[key] = serialise(*code);
    }
    Header header = {};
    std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
    header.version = kVersion;
    header.abi_version = abi::kKernelAbiVersion;
    const std::string cpu = target_cpu();
    std::memcpy(header.cpu, cpu.data(), std::min(cpu.size(), sizeof header.cpu));
    header.entry_count = sections.size();
    std::vector<std::byte> bytes;
    append(bytes, header);
    std::uint64_t offset =
        sizeof header + sections.size() * sizeof(Entry) + 2 * sizeof(std::uint64_t);
    for (const auto& [key, section] : sections) {
      const Digest digest = digest_of(section);
      append(bytes,
             Entry{{key.first, key.second}, offset, section.size(), {digest.high, digest.low}});
      offset += section.size();
    }
    const Digest contents = digest_of(bytes);
    append(bytes, contents.high);
    append(bytes, contents.low);
    for (const auto& [key, section] : sections) {
      bytes.insert(bytes.end(), section.begin(), section.end());
    }
    return bytes;
  }

  std::shared_ptr<const FileBytes> file_;
  std::string name_;
  std::map<Key, Entry> stored_;

  mutable std::mutex mutex_;  // guards the member below
  std::map<Key, std::shared_ptr<const KernelCode>> codes_;
};

}  // namespace

std::shared_ptr<CodeArchive> new_archive() {
  return std::make_shared<Archive>();
}

Result<std::shared_ptr<CodeArchive>> open_archive(const std::string& path) {
  auto bytes = FileBytes::map(path);
  if (!bytes) {
    return bytes.error();
  }
  return Archive::open(*bytes, path);
}

}  // namespace pewter::compiler
