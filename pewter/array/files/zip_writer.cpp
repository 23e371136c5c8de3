#include "pewter/array/files/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "pewter/array/files/file_error.h"
#include "pewter/array/files/zip_format.h"

namespace pewter::files {
namespace {

constexpr std::uint64_t kVersion = 20;
constexpr std::uint64_t kWideVersion = 45;
/// 1 January 1980, the first day that ZIP knows: the same arrays give the same file.
constexpr std::uint64_t kDate = 0x21;
/// Names are in UTF-8.
constexpr std::uint64_t kFlags = 0x800;

uLong checksum_of(uLong start, std::string_view text) {
  // Without bytes zlib would start again.
  return text.empty() ? start
                      : crc32_z(start, reinterpret_cast<const Bytef*>(text.data()), text.size());
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string deflated(std::string_view head, std::string_view body, const std::string& path) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    file_error("{}: no memory to deflate", path);
  }
  std::string out;
  std::string piece(1U << 18, '\0');
  const auto feed = [&](std::string_view text, bool is_last) {
    do {
      const std::string_view part = text.substr(0, 1U << 30);
      text.remove_prefix(part.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream.avail_in = static_cast<uInt>(part.size());
      do {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        deflate(&stream, is_last && text.empty() ? Z_FINISH : Z_NO_FLUSH);
        out.append(piece, 0, piece.size() - stream.avail_out);
      } while (stream.avail_out == 0);
    } while (!text.empty());
  };
  feed(head, false);
  feed(body, true);
  deflateEnd(&stream);
  return out;
}

}  // namespace

ZipWriter::ZipWriter(const std::filesystem::path& path)
    : path_(path.string()), stream_(path, std::ios::binary | std::ios::trunc) {}

std::string ZipWriter::common_fields(const Entry& entry, bool is_wide) {
  std::string fields;
  append_number(fields, is_wide ? kWideVersion : kVersion, 2);
  append_number(fields, kFlags, 2);
  append_number(fields, entry.is_deflated ? kDeflated : kStored, 2);
  append_number(fields, 0, 2);
  append_number(fields, kDate, 2);
  append_number(fields, entry.checksum, 4);
  append_number(fields, is_wide ? kSeeWide : entry.compressed_bytes, 4);
  append_number(fields, is_wide ? kSeeWide : entry.bytes, 4);
  append_number(fields, entry.name.size(), 2);
  return fields;
}

void ZipWriter::expect_name(const std::filesystem::path& path, const std::string& name) {
  constexpr std::size_t kMaxName = 65535;
  if (name.size() > kMaxName) {
    file_error("{}: a name of {} bytes; at most {} are possible", path.string(), name.size(),
               kMaxName);
  }
}

void ZipWriter::add(const std::string& name,
                    std::string_view head,
                    std::span<const std::byte> body,
                    bool is_deflated) {
  expect_name(path_, name);
  Entry entry;
  entry.name = name;
  entry.bytes = head.size() + body.size();
  entry.checksum = static_cast<std::uint32_t>(
      checksum_of(checksum_of(crc32(0, nullptr, 0), head), as_text(body)));
  entry.is_deflated = is_deflated;
  entry.offset = written_;
  const std::string packed = is_deflated ? deflated(head, as_text(body), path_) : std::string();
  entry.compressed_bytes = is_deflated ? packed.size() : entry.bytes;

  const bool is_wide = std::max(entry.bytes, entry.compressed_bytes) >= kSeeWide;
  std::string header(kLocalMark);
  header += common_fields(entry, is_wide);
  append_number(header, is_wide ? 20 : 0, 2);
  header += name;
  if (is_wide) {
    append_number(header, kWideExtra, 2);
    append_number(header, 16, 2);
    append_number(header, entry.bytes, 8);
    append_number(header, entry.compressed_bytes, 8);
  }
  write(header);
  if (is_deflated) {
    write(packed);
  } else {
    write(head);
    write(as_text(body));
  }
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const std::uint64_t directory = written_;
  for (const Entry& entry : entries_) {
    const bool is_wide = std::max({entry.bytes, entry.compressed_bytes, entry.offset}) >= kSeeWide;
    std::string record(kDirectoryMark);
    append_number(record, is_wide ? kWideVersion : kVersion, 2);
    record += common_fields(entry, is_wide);
    append_number(record, is_wide ? 28 : 0, 2);
    // No comment, the first disk, no attributes.
    append_number(record, 0, 10);
    append_number(record, is_wide ? kSeeWide : entry.offset, 4);
    record += entry.name;
    if (is_wide) {
      append_number(record, kWideExtra, 2);
      append_number(record, 24, 2);
      append_number(record, entry.bytes, 8);
      append_number(record, entry.compressed_bytes, 8);
      append_number(record, entry.offset, 8);
    }
    write(record);
  }

  const std::uint64_t bytes = written_ - directory;
  const std::uint64_t count = entries_.size();
  const bool is_wide = std::max(directory, bytes) >= kSeeWide || count >= kSeeWideCount;
  std::string end;
  if (is_wide) {
    end += kWideEndMark;
    append_number(end, 44, 8);
    append_number(end, kWideVersion, 2);
    append_number(end, kWideVersion, 2);
    append_number(end, 0, 8);
    append_number(end, count, 8);
    append_number(end, count, 8);
    append_number(end, bytes, 8);
    append_number(end, directory, 8);
    end += kWideLocatorMark;
    append_number(end, 0, 4);
    append_number(end, written_, 8);
    append_number(end, 1, 4);
  }
  end += kEndMark;
  append_number(end, 0, 4);
  append_number(end, is_wide ? kSeeWideCount : count, 2);
  append_number(end, is_wide ? kSeeWideCount : count, 2);
  append_number(end, is_wide ? kSeeWide : bytes, 4);
  append_number(end, is_wide ? kSeeWide : directory, 4);
  append_number(end, 0, 2);
  write(end);
  stream_.close();
  if (!stream_) {
    file_error("cannot write '{}'", path_);
  }
}

void ZipWriter::write(std::string_view text) {
  stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream_) {
    file_error("cannot write '{}'", path_);
  }
  written_ += text.size();
}

}  // namespace pewter::files
