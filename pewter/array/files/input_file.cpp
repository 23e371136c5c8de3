#include "pewter/array/files/input_file.h"

#include "pewter/array/files/file_error.h"

namespace pewter::files {

InputFile::InputFile(const std::filesystem::path& path) : path_(path.string()) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    file_error("cannot read '{}': {}", path_,
               std::filesystem::exists(path, code) ? "not a file" : "no such file");
  }
  size_ = std::filesystem::file_size(path, code);
  stream_.open(path, std::ios::binary);
  if (code || !stream_) {
    file_error("cannot read '{}'", path_);
  }
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  if (offset > size_ || bytes.size() > size_ - offset) {
    file_error("{}: ends before byte {}, where {} more are needed", path_, offset, bytes.size());
  }
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  if (!stream_.read(reinterpret_cast<char*>(bytes.data()),
                    static_cast<std::streamsize>(bytes.size()))) {
    file_error("cannot read '{}'", path_);
  }
}

std::string InputFile::read_text(std::uint64_t offset, std::size_t count) {
  if (offset > size_ || count > size_ - offset) {
    file_error("{}: ends before byte {}, where {} more are needed", path_, offset, count);
  }
  std::string text(count, '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace pewter::files
