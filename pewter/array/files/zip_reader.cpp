#include "pewter/array/files/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <set>
#include <utility>

#include "pewter/array/files/file_error.h"
#include "pewter/array/files/zip_format.h"

namespace pewter::files {
namespace {

/// The fixed part of the record at the end, and the longest comment that may follow it.
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kMaxComment = 65535;
constexpr std::uint64_t kLocatorBytes = 20;
constexpr std::uint64_t kWideEndBytes = 56;
constexpr std::size_t kDirectoryEntryBytes = 46;
constexpr std::size_t kLocalHeaderBytes = 30;

/// No byte of deflated data becomes more than this many.
constexpr std::uint64_t kMaxRatio = 1032;

constexpr std::size_t kInputPiece = 65536;

/// Takes the sizes that did not fit in 32 bits from the extra field.
void read_wide_sizes(std::string_view extra, ZipReader::Entry& entry, const std::string& path) {
  while (extra.size() >= 4) {
    const std::uint64_t id = number_at(extra, 0, 2);
    const std::uint64_t length = number_at(extra, 2, 2);
    if (length > extra.size() - 4) {
      break;
    }
    std::string_view content = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != kWideExtra) {
      continue;
    }
    for (std::uint64_t* value : {&entry.bytes, &entry.compressed_bytes, &entry.header_offset}) {
      if (*value == kSeeWide) {
        if (content.size() < 8) {
          file_error("{}: damaged .npz directory", path);
        }
        *value = number_at(content, 0, 8);
        content.remove_prefix(8);
      }
    }
    return;
  }
}

/// Inflates an entry, a piece at a time.
class Inflater {
 public:
  Inflater(InputFile& file, const ZipReader::Entry& entry)
      : file_(file), at_(entry.data_offset), left_(entry.compressed_bytes), name_(entry.name) {
    // A negative window is deflate without a header of its own.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
      file_error("{}: no memory to inflate '{}'", file_.path(), printable(name_));
    }
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  void fill(std::span<std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      if (stream_.avail_in == 0 && left_ > 0) {
        refill();
      }
      const std::size_t wanted = std::min<std::size_t>(bytes.size() - done, 1U << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
      stream_.avail_out = static_cast<uInt>(wanted);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      done += wanted - stream_.avail_out;
      const bool is_over = code == Z_STREAM_END || (left_ == 0 && stream_.avail_in == 0);
      if ((code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) ||
          (is_over && done < bytes.size())) {
        file_error("{}: '{}' does not inflate to what it says", file_.path(), printable(name_));
      }
    }
  }

 private:
  void refill() {
    input_.resize(std::min<std::uint64_t>(left_, kInputPiece));
    file_.read(at_, input_);
    at_ += input_.size();
    left_ -= input_.size();
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(input_.size());
  }

  InputFile& file_;
  std::uint64_t at_;
  std::uint64_t left_;
  const std::string& name_;
  std::vector<std::byte> input_;
  z_stream stream_ = {};
};

}  // namespace

ZipReader::ZipReader(const std::filesystem::path& path) : file_(path) {
  const Directory directory = find_directory();
  read_directory(directory);
  for (Entry& entry : entries_) {
    locate(entry, directory.offset);
  }
  refuse_overlaps();
}

ZipReader::Directory ZipReader::find_directory() {
  const std::uint64_t tail_bytes = std::min(file_.size(), kEndBytes + kMaxComment);
  const std::uint64_t tail_offset = file_.size() - tail_bytes;
  const std::string tail = file_.read_text(tail_offset, tail_bytes);
  for (std::size_t at = tail.rfind(kEndMark); at != std::string::npos;
       at = at == 0 ? std::string::npos : tail.rfind(kEndMark, at - 1)) {
    // The comment must end with the file, or this is a part of it.
    if (tail.size() - at < kEndBytes ||
        number_at(tail, at + 20, 2) != tail.size() - at - kEndBytes) {
      continue;
    }
    const Directory directory{number_at(tail, at + 16, 4), number_at(tail, at + 12, 4),
                              number_at(tail, at + 10, 2)};
    const bool is_wide = directory.offset == kSeeWide || directory.bytes == kSeeWide ||
                         directory.count == kSeeWideCount;
    return is_wide ? wide_directory(tail_offset + at) : directory;
  }
  file_error("{}: not a .npz file", file_.path());
}

ZipReader::Directory ZipReader::wide_directory(std::uint64_t end_offset) {
  if (end_offset < kLocatorBytes) {
    file_error("{}: damaged .npz directory", file_.path());
  }
  const std::string locator = file_.read_text(end_offset - kLocatorBytes, kLocatorBytes);
  if (!locator.starts_with(kWideLocatorMark)) {
    file_error("{}: damaged .npz directory", file_.path());
  }
  const std::string record = file_.read_text(number_at(locator, 8, 8), kWideEndBytes);
  if (!record.starts_with(kWideEndMark)) {
    file_error("{}: damaged .npz directory", file_.path());
  }
  return {number_at(record, 48, 8), number_at(record, 40, 8), number_at(record, 32, 8)};
}

void ZipReader::read_directory(const Directory& directory) {
  if (directory.offset > file_.size() || directory.bytes > file_.size() - directory.offset ||
      directory.count > directory.bytes / kDirectoryEntryBytes) {
    file_error("{}: damaged .npz directory", file_.path());
  }
  const std::string text = file_.read_text(directory.offset, directory.bytes);
  std::set<std::string> names;
  std::string_view left = text;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (left.size() < kDirectoryEntryBytes || !left.starts_with(kDirectoryMark)) {
      file_error("{}: damaged .npz directory", file_.path());
    }
    const std::uint64_t name_bytes = number_at(left, 28, 2);
    const std::uint64_t extra_bytes = number_at(left, 30, 2);
    const std::uint64_t comment_bytes = number_at(left, 32, 2);
    if (name_bytes + extra_bytes + comment_bytes > left.size() - kDirectoryEntryBytes) {
      file_error("{}: damaged .npz directory", file_.path());
    }
    Entry entry;
    entry.name = left.substr(kDirectoryEntryBytes, name_bytes);
    entry.checksum = static_cast<std::uint32_t>(number_at(left, 16, 4));
    entry.compressed_bytes = number_at(left, 20, 4);
    entry.bytes = number_at(left, 24, 4);
    entry.header_offset = number_at(left, 42, 4);
    read_wide_sizes(left.substr(kDirectoryEntryBytes + name_bytes, extra_bytes), entry,
                    file_.path());

    const std::uint64_t flags = number_at(left, 8, 2);
    const std::uint64_t method = number_at(left, 10, 2);
    if ((flags & kEncrypted) != 0 || (method != kStored && method != kDeflated)) {
      file_error("{}: '{}' is encrypted or compressed by a method that is not known", file_.path(),
                 printable(entry.name));
    }
    entry.is_deflated = method == kDeflated;
    if (!names.insert(entry.name).second) {
      file_error("{}: two entries are named '{}'", file_.path(), printable(entry.name));
    }
    entries_.push_back(std::move(entry));
    left.remove_prefix(kDirectoryEntryBytes + name_bytes + extra_bytes + comment_bytes);
  }
}

void ZipReader::locate(Entry& entry, std::uint64_t directory_offset) {
  const std::string header = file_.read_text(entry.header_offset, kLocalHeaderBytes);
  if (!header.starts_with(kLocalMark)) {
    file_error("{}: no header of '{}' where the directory says", file_.path(),
               printable(entry.name));
  }
  entry.data_offset =
      entry.header_offset + kLocalHeaderBytes + number_at(header, 26, 2) + number_at(header, 28, 2);
  if (entry.data_offset > directory_offset ||
      entry.compressed_bytes > directory_offset - entry.data_offset) {
    file_error("{}: '{}' is longer than the file", file_.path(), printable(entry.name));
  }
  const bool is_possible = entry.is_deflated ? entry.bytes / kMaxRatio <= entry.compressed_bytes
                                             : entry.bytes == entry.compressed_bytes;
  if (!is_possible) {
    file_error("{}: '{}' cannot have {} bytes in {}", file_.path(), printable(entry.name),
               entry.bytes, entry.compressed_bytes);
  }
}

void ZipReader::refuse_overlaps() const {
  std::vector<const Entry*> by_place;
  for (const Entry& entry : entries_) {
    by_place.push_back(&entry);
  }
  std::sort(by_place.begin(), by_place.end(), [](const Entry* left, const Entry* right) {
    return left->header_offset < right->header_offset;
  });
  for (std::size_t i = 1; i < by_place.size(); ++i) {
    const Entry& before = *by_place[i - 1];
    if (by_place[i]->header_offset < before.data_offset + before.compressed_bytes) {
      file_error("{}: '{}' and '{}' share bytes", file_.path(), printable(before.name),
                 printable(by_place[i]->name));
    }
  }
}

void ZipReader::read(
    const Entry& entry,
    const std::function<void(const std::function<void(std::span<std::byte>)>&)>& use) {
  std::uint64_t done = 0;
  uLong checksum = crc32(0, nullptr, 0);
  Inflater inflater(file_, entry);
  use([&](std::span<std::byte> bytes) {
    if (bytes.size() > entry.bytes - done) {
      file_error("{}: '{}' ends after {} bytes", file_.path(), printable(entry.name), entry.bytes);
    }
    if (entry.is_deflated) {
      inflater.fill(bytes);
    } else {
      file_.read(entry.data_offset + done, bytes);
    }
    done += bytes.size();
    // Without bytes zlib would start again.
    checksum = bytes.empty()
                   ? checksum
                   : crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  });
  if (done != entry.bytes || checksum != entry.checksum) {
    file_error("{}: '{}' is damaged: its checksum differs", file_.path(), printable(entry.name));
  }
}

}  // namespace pewter::files
