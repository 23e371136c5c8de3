#include "tests/fuzz/input/checksums.h"

#include <cstring>

#include "pewter/base/hash.h"

namespace pewter::fuzz {
namespace {

constexpr std::size_t kDigestBytes = 16;

std::uint64_t number_at(std::span<const std::uint8_t> file, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, file.data() + offset, sizeof number);
  return number;
}

void put_digest(std::span<std::uint8_t> file,
                std::size_t offset,
                std::span<const std::uint8_t> bytes) {
  const Digest digest = digest_of(std::as_bytes(bytes));
  std::memcpy(file.data() + offset, &digest.high, sizeof digest.high);
  std::memcpy(file.data() + offset + sizeof digest.high, &digest.low, sizeof digest.low);
}

/// A file with a table of contents: where things are in the header and in an entry.
struct Layout {
  std::size_t header_bytes;
  std::size_t count_offset;
  std::size_t entry_bytes;
  /// In an entry: offset and size of its section, one after the other, and the digest.
  std::size_t place_offset;
  std::size_t digest_offset;
};

void repair(std::span<std::uint8_t> file, const Layout& layout) {
  if (file.size() < layout.header_bytes + kDigestBytes) {
    return;
  }
  const std::uint64_t count = number_at(file, layout.count_offset);
  const std::size_t room = file.size() - layout.header_bytes - kDigestBytes;
  if (count > room / layout.entry_bytes) {
    return;
  }
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::size_t entry = layout.header_bytes + number * layout.entry_bytes;
    const std::uint64_t offset = number_at(file, entry + layout.place_offset);
    const std::uint64_t size = number_at(file, entry + layout.place_offset + sizeof(std::uint64_t));
    if (offset <= file.size() && size <= file.size() - offset) {
      put_digest(file, entry + layout.digest_offset, file.subspan(offset, size));
    }
  }
  const std::size_t contents = layout.header_bytes + count * layout.entry_bytes;
  put_digest(file, contents, file.first(contents));
}

}  // namespace

void repair_library_file(std::span<std::uint8_t> file) {
  repair(file, {.header_bytes = 24,
                .count_offset = 16,
                .entry_bytes = 32,
                .place_offset = 0,
                .digest_offset = 16});
}

void repair_archive(std::span<std::uint8_t> file) {
  repair(file, {.header_bytes = 72,
                .count_offset = 64,
                .entry_bytes = 48,
                .place_offset = 16,
                .digest_offset = 32});
}

void repair_cache_entry(std::span<std::uint8_t> file) {
  constexpr std::size_t kHeaderBytes = 48;
  constexpr std::size_t kChecksumOffset = 24;
  constexpr std::size_t kSizeOffset = 40;
  if (file.size() < kHeaderBytes) {
    return;
  }
  const std::uint64_t size = file.size() - kHeaderBytes;
  std::memcpy(file.data() + kSizeOffset, &size, sizeof size);
  put_digest(file, kChecksumOffset, file.subspan(kHeaderBytes));
}

}  // namespace pewter::fuzz
