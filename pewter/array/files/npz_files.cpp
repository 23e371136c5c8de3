#include <pewter/files.h>
#include <pewter/npy.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/file_error.h"
#include "pewter/array/files/raw_array.h"
#include "pewter/array/files/zip_reader.h"
#include "pewter/array/files/zip_writer.h"

namespace pewter {
namespace {

constexpr std::string_view kSuffix = ".npy";
/// Enough to know how long the header is.
constexpr std::size_t kStart = 12;

array read_entry(files::ZipReader& archive, const files::ZipReader::Entry& entry) {
  const std::string place = archive.path() + ": " + files::printable(entry.name);
  if (entry.bytes < kStart) {
    files::file_error("{}: not a .npy file", place);
  }
  std::vector<array> made;
  archive.read(entry, [&](const std::function<void(std::span<std::byte>)>& next) {
    std::string start(std::min<std::uint64_t>(entry.bytes, kMaxNpyHeader), '\0');
    const auto bytes = std::as_writable_bytes(std::span(start));
    next(bytes);
    const NpyHeader header = parse_npy_header(start, place);
    if (entry.bytes - header.data_offset != header.byte_count) {
      files::file_error("{}: {} bytes of data where {} are needed", place,
                        entry.bytes - header.data_offset, header.byte_count);
    }
    // What was read beyond the header is the beginning of the data.
    std::span<const std::byte> kept = bytes.subspan(header.data_offset);
    made.push_back(files::read_npy_array(header, place, [&](std::span<std::byte> wanted) {
      const std::size_t at_hand = std::min(kept.size(), wanted.size());
      std::copy_n(kept.begin(), at_hand, wanted.begin());
      kept = kept.subspan(at_hand);
      if (at_hand < wanted.size()) {
        next(wanted.subspan(at_hand));
      }
    }));
  });
  return made.at(0);
}

}  // namespace

NamedArrays load_npz(const std::filesystem::path& path) {
  files::ZipReader archive(path);
  NamedArrays arrays;
  for (const files::ZipReader::Entry& entry : archive.entries()) {
    std::string name = entry.name;
    if (name.ends_with(kSuffix)) {
      name.resize(name.size() - kSuffix.size());
    }
    if (!arrays.emplace(name, read_entry(archive, entry)).second) {
      files::file_error("{}: two arrays are named '{}'", archive.path(), files::printable(name));
    }
  }
  return arrays;
}

void save_npz(const std::filesystem::path& path, const NamedArrays& arrays, bool is_compressed) {
  // What can go wrong does so before the file is opened, which empties it.
  for (const auto& [name, value] : arrays) {
    files::ZipWriter::expect_name(path, name + std::string(kSuffix));
    files::expect_readable(value.shape(), path.string());
    value.eval();
  }
  files::ZipWriter archive(path);
  for (const auto& [name, value] : arrays) {
    const files::ArrayBytes content = files::npy_bytes(value);
    archive.add(name + std::string(kSuffix),
                npy_preamble(files::npy_descr(content.dtype()), content.shape()), content.bytes(),
                is_compressed);
  }
  archive.finish();
}

}  // namespace pewter
