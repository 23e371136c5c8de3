// Files of arrays: .npy headers, the ZIP archives that .npz files are, and .safetensors headers.
// Whatever is wrong throws FileError, before memory is taken for what a file only claims to hold.

#include <pewter/errors.h>
#include <pewter/npy.h>

#include <algorithm>
#include <vector>

#include "pewter/array/files/safetensors_header.h"
#include "pewter/array/files/zip_reader.h"
#include "tests/fuzz/input/fuzzer.h"

namespace {

using namespace pewter;

constexpr std::size_t kPieceBytes = 65536;
/// Deflated bytes hold up to a thousand times as many.
constexpr std::uint64_t kMaxEntryBytes = std::uint64_t{8} << 20;

void read_archive(const std::string& path) {
  files::ZipReader archive(path);
  for (const files::ZipReader::Entry& entry : archive.entries()) {
    if (entry.bytes > kMaxEntryBytes) {
      continue;
    }
    archive.read(entry, [&](const auto& source) {
      std::vector<std::byte> piece(kPieceBytes);
      for (std::uint64_t left = entry.bytes; left > 0;) {
        const auto next = std::span(piece).first(std::min<std::uint64_t>(left, piece.size()));
        source(next);
        if (left == entry.bytes) {
          (void)parse_npy_header({reinterpret_cast<const char*>(next.data()), next.size()}, path);
        }
        left -= next.size();
      }
    });
  }
}

void read_tensors(const std::string& path) {
  files::InputFile file(path);
  const files::SafetensorsHeader header = files::read_safetensors_header(file);
  for (const files::TensorPlace& tensor : header.tensors) {
    std::vector<std::byte> values(tensor.end - tensor.begin);
    file.read(header.data_offset + tensor.begin, values);
  }
}

template <typename Work>
void expect_file_error(const Work& work) {
  try {
    work();
  } catch (const FileError&) {
    // The one way to refuse a file.
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzz::file_with({data, size});
  expect_file_error([&] {
    const NpyHeader header = read_npy_header(path);
    std::vector<std::byte> values(header.byte_count);
    read_npy_data(path, header, values);
  });
  expect_file_error([&] { read_archive(path); });
  expect_file_error([&] { read_tensors(path); });
  return 0;
}
