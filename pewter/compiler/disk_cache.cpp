#include "pewter/compiler/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <system_error>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"

namespace pewter::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDefaultLimitBytes = std::uint64_t{512} << 20;
constexpr const char* kSuffix = ".pewter";

/// What stands before an entry's bytes.
struct Header {
  std::array<char, 8> magic = {'p', 'e', 'w', 't', 'e', 'r', '0', '1'};
  Digest key;
  Digest checksum;
  std::uint64_t size = 0;
};

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool good() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  bool read_all(void* target, std::size_t size) const {
    auto* next = static_cast<char*>(target);
    while (size > 0) {
      const ssize_t got = ::read(descriptor_, next, size);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return false;
      }
      next += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }

  bool write_all(const void* source, std::size_t size) const {
    const auto* next = static_cast<const char*>(source);
    while (size > 0) {
      const ssize_t put = ::write(descriptor_, next, size);
      if (put < 0 && errno == EINTR) {
        continue;
      }
      if (put <= 0) {
        return false;
      }
      next += put;
      size -= static_cast<std::size_t>(put);
    }
    return true;
  }

 private:
  const int descriptor_;
};

fs::path user_directory() {
  if (!environment::flag("PEWTER_CACHE", true)) {
    return {};
  }
  if (const auto chosen = environment::text("PEWTER_CACHE_DIR")) {
    return *chosen;
  }
  if (const auto base = environment::text("XDG_CACHE_HOME")) {
    return fs::path(*base) / "pewter";
  }
  if (const auto home = environment::text("HOME")) {
    return fs::path(*home) / ".cache" / "pewter";
  }
  return {};
}

/// One entry of the folder.
struct Entry {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

std::vector<Entry> entries_of(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code code;
  for (fs::recursive_directory_iterator next(directory, code), end; !code && next != end;
       next.increment(code)) {
    std::error_code entry_code;
    if (!next->is_regular_file(entry_code) || next->path().extension() != kSuffix) {
      continue;
    }
    const auto bytes = next->file_size(entry_code);
    const auto used = next->last_write_time(entry_code);
    // Another process may delete an entry while we look.
    if (!entry_code) {
      entries.push_back({next->path(), bytes, used});
    }
  }
  return entries;
}

}  // namespace

DiskCache::DiskCache(fs::path directory, std::uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes), unmeasured_bytes_(limit_bytes) {}

DiskCache& DiskCache::shared() {
  static auto* cache = new DiskCache(
      user_directory(),
      environment::number("PEWTER_CACHE_LIMIT_MB").value_or(kDefaultLimitBytes >> 20) << 20);
  return *cache;
}

fs::path DiskCache::path(const Digest& key) const {
  const std::string name = key.hex();
  return directory_ / name.substr(0, 2) / (name.substr(2) + kSuffix);
}

std::optional<std::vector<std::byte>> DiskCache::load(const Digest& key) {
  if (!enabled()) {
    return std::nullopt;
  }
  const fs::path where = path(key);
  const File file(::open(where.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  Header header;
  if (!file.good() || ::fstat(file.get(), &status) != 0 ||
      !file.read_all(&header, sizeof(header)) || header.magic != Header().magic ||
      header.key != key ||
      static_cast<std::uint64_t>(status.st_size) != sizeof(header) + header.size) {
    return std::nullopt;
  }
  std::vector<std::byte> bytes(header.size);
  if (!file.read_all(bytes.data(), bytes.size()) || digest_of(bytes) != header.checksum) {
    logging::detail("cache", "entry {} is damaged and is ignored", where.string());
    return std::nullopt;
  }
  // The time of last use decides what is trimmed; once an hour is fine enough.
  struct timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec - status.st_mtim.tv_sec > 3600) {
    ::futimens(file.get(), nullptr);
  }
  return bytes;
}

void DiskCache::store(const Digest& key, std::span<const std::byte> bytes) {
  if (!enabled() || bytes.size() > limit_bytes_) {
    return;
  }
  const fs::path where = path(key);
  std::error_code code;
  fs::create_directories(where.parent_path(), code);
  std::string temporary = where.string() + ".XXXXXX";
  {
    const File file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file.good()) {
      logging::detail("cache", "cannot write under {}: {}", directory_.string(),
                      std::strerror(errno));
      return;
    }
    Header header;
    header.key = key;
    header.checksum = digest_of(bytes);
    header.size = bytes.size();
    if (!file.write_all(&header, sizeof(header)) || !file.write_all(bytes.data(), bytes.size())) {
      logging::detail("cache", "cannot write {}: {}", temporary, std::strerror(errno));
      ::unlink(temporary.c_str());
      return;
    }
  }
  if (::rename(temporary.c_str(), where.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  // Measuring walks the folder, so it is done for the first entry and then once for each sixteenth
  // of the limit.
  const std::uint64_t before = unmeasured_bytes_.fetch_add(bytes.size());
  if (before + bytes.size() >= limit_bytes_ / 16 + 1) {
    unmeasured_bytes_ = 0;
    trim();
  }
}

void DiskCache::trim() {
  std::vector<Entry> entries = entries_of(directory_);
  std::uint64_t total = 0;
  for (const Entry& entry : entries) {
    total += entry.bytes;
  }
  if (total <= limit_bytes_) {
    return;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& left, const Entry& right) { return left.used < right.used; });
  for (const Entry& entry : entries) {
    // Below the limit by a quarter, so that the next entry does not start it all over.
    if (total <= limit_bytes_ - limit_bytes_ / 4) {
      break;
    }
    std::error_code code;
    fs::remove(entry.path, code);
    total -= entry.bytes;
  }
}

Result<std::uint64_t> DiskCache::clear() {
  std::uint64_t freed = 0;
  for (const Entry& entry : entries_of(directory_)) {
    std::error_code code;
    if (!fs::remove(entry.path, code) && code) {
      return failure("cannot delete " + entry.path.string() + ": " + code.message());
    }
    freed += entry.bytes;
  }
  return freed;
}

DiskCache::Usage DiskCache::usage() const {
  Usage usage;
  if (enabled()) {
    for (const Entry& entry : entries_of(directory_)) {
      usage.bytes += entry.bytes;
      ++usage.entries;
    }
  }
  return usage;
}

}  // namespace pewter::compiler
