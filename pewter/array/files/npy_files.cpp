#include <pewter/files.h>
#include <pewter/npy.h>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/input_file.h"
#include "pewter/array/files/raw_array.h"

namespace pewter {

array load(const std::filesystem::path& path) {
  const NpyHeader header = read_npy_header(path.string());
  files::InputFile file(path);
  std::uint64_t at = header.data_offset;
  return files::read_npy_array(header, file.path(), [&](std::span<std::byte> bytes) {
    file.read(at, bytes);
    at += bytes.size();
  });
}

void save(const std::filesystem::path& path, const array& value) {
  files::expect_readable(value.shape(), path.string());
  const files::ArrayBytes content = files::npy_bytes(value);
  write_npy(path.string(), files::npy_descr(content.dtype()), content.shape(), content.bytes());
}

}  // namespace pewter
