#include <fmt/core.h>
#include <fmt/ranges.h>
#include <pewter/npy.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/file_error.h"

namespace pewter {
namespace {

using files::file_error;
using files::kMaxDimensions;

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the Python dictionary of a header: strings, booleans and tuples of whole numbers, nothing
/// else.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  void read(NpyHeader& header) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      member(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!text_.empty() || seen_ != kAllKeys) {
      damaged();
    }
  }

 private:
  static constexpr unsigned kDescr = 1;
  static constexpr unsigned kOrder = 2;
  static constexpr unsigned kShape = 4;
  static constexpr unsigned kAllKeys = kDescr | kOrder | kShape;

  [[noreturn]] void damaged() const { file_error("{}: damaged .npy header", path_); }

  void member(std::string_view key, NpyHeader& header) {
    if (key == "descr") {
      once(kDescr);
      type(header);
    } else if (key == "fortran_order") {
      once(kOrder);
      header.fortran_order = boolean();
    } else if (key == "shape") {
      once(kShape);
      header.shape = tuple();
    } else {
      damaged();
    }
  }

  void once(unsigned key) {
    if ((seen_ & key) != 0) {
      damaged();
    }
    seen_ |= key;
  }

  void type(NpyHeader& header) {
    skip_spaces();
    if (!text_.empty() && text_.front() == '[') {
      file_error("{}: arrays of records are not supported", path_);
    }
    header.descr = string();
    // An order, a kind and a size; all else (text, objects, dates) has no size that could be known.
    const std::string_view descr = header.descr;
    const std::string_view size = descr.size() > 2 ? descr.substr(2) : "";
    const auto [stop, code] =
        std::from_chars(size.data(), size.data() + size.size(), header.item_bytes);
    const bool is_number = code == std::errc() && stop == size.data() + size.size();
    if (!is_number || !is_known(descr[0], descr[1], header.item_bytes)) {
      file_error(
          "{}: Metal has no type for NumPy's '{}'; convert with astype('float32') or another",
          path_, descr);
    }
    header.kind = descr[1];
    constexpr bool kIsLittle = std::endian::native == std::endian::little;
    header.is_swapped = header.item_bytes > 1 && descr[0] == (kIsLittle ? '>' : '<');
  }

  static bool is_known(char order, char kind, std::size_t bytes) {
    if (std::string_view("<>|=").find(order) == std::string_view::npos) {
      return false;
    }
    switch (kind) {
      case 'b':
        return bytes == 1;
      case 'i':
      case 'u':
        return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
      case 'f':
        return bytes == 2 || bytes == 4 || bytes == 8;
      case 'c':
        return bytes == 8 || bytes == 16;
      default:
        return false;
    }
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxDimensions) {
        file_error("{}: more than {} dimensions", path_, kMaxDimensions);
      }
      shape.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::uint64_t number() {
    skip_spaces();
    std::uint64_t value = 0;
    const auto [stop, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (code != std::errc()) {
      damaged();
    }
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return value;
  }

  bool boolean() {
    skip_spaces();
    for (const auto& [word, value] :
         {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(0, word.size()) == word) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    damaged();
  }

  std::string_view string() {
    skip_spaces();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) {
      damaged();
    }
    const auto end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) {
      damaged();
    }
    const std::string_view content = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    // The text may end up on a terminal.
    if (!std::all_of(content.begin(), content.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
      damaged();
    }
    return content;
  }

  void expect(char letter) {
    if (!accept(letter)) {
      damaged();
    }
  }

  bool accept(char letter) {
    skip_spaces();
    if (text_.empty() || text_.front() != letter) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  void skip_spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
  }

  std::string_view text_;
  const std::string& path_;
  unsigned seen_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view start, const std::string& path) {
  if (start.size() < kMagic.size() + 4 || start.substr(0, kMagic.size()) != kMagic) {
    file_error("{}: not a .npy file", path);
  }
  const int major = static_cast<unsigned char>(start[6]);
  if (major < 1 || major > 3) {
    file_error("{}: version {} of the .npy format is not known", path, major);
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t text_offset = 8 + length_bytes;
  if (start.size() < text_offset) {
    file_error("{}: damaged .npy header", path);
  }
  const std::size_t length = little_endian(start.substr(8, length_bytes));
  if (length > kMaxNpyHeader - text_offset || start.size() - text_offset < length) {
    file_error("{}: .npy header of {} bytes is longer than the file or than {}", path, length,
               kMaxNpyHeader);
  }

  NpyHeader header;
  DictionaryReader(start.substr(text_offset, length), path).read(header);
  header.data_offset = text_offset + length;
  header.byte_count = header.item_bytes;
  for (const std::uint64_t dimension : header.shape) {
    if (__builtin_mul_overflow(header.byte_count, dimension, &header.byte_count)) {
      file_error("{}: array of {} elements is too large", path, fmt::join(header.shape, " x "));
    }
  }
  return header;
}

NpyHeader read_npy_header(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    file_error("cannot read '{}': {}", path,
               std::filesystem::exists(path, code) ? "not a file" : "no such file");
  }
  const std::uint64_t file_bytes = std::filesystem::file_size(path, code);
  std::ifstream file(path, std::ios::binary);
  std::string start(std::min<std::uint64_t>(code ? 0 : file_bytes, kMaxNpyHeader), '\0');
  if (!file.read(start.data(), static_cast<std::streamsize>(start.size()))) {
    file_error("cannot read '{}'", path);
  }

  NpyHeader header = parse_npy_header(start, path);
  const std::uint64_t available = file_bytes - header.data_offset;
  if (available != header.byte_count) {
    file_error("{}: {} bytes of data where {} are needed", path, available, header.byte_count);
  }
  return header;
}

void read_npy_data(const std::string& path, const NpyHeader& header, std::span<std::byte> data) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(header.data_offset));
  if (!file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()))) {
    file_error("cannot read '{}'", path);
  }
  normalize_npy_data(header, data);
}

void normalize_npy_data(const NpyHeader& header, std::span<std::byte> data) {
  if (header.is_swapped) {
    const std::size_t part = header.kind == 'c' ? header.item_bytes / 2 : header.item_bytes;
    for (std::size_t at = 0; at + part <= data.size(); at += part) {
      std::reverse(data.data() + at, data.data() + at + part);
    }
  }
  if (header.kind == 'b') {
    // Compiled code may rely on a bool being 0 or 1.
    std::transform(data.begin(), data.end(), data.begin(), [](std::byte value) {
      return value == std::byte{0} ? std::byte{0} : std::byte{1};
    });
  }
}

std::string npy_preamble(std::string_view descr, const std::vector<std::uint64_t>& shape) {
  std::string tuple;
  for (const std::uint64_t length : shape) {
    tuple += std::to_string(length) + ", ";
  }
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, tuple);
  // The data starts at a multiple of 64 bytes, after the magic, the version and the length.
  const std::size_t before = kMagic.size() + 4;
  const std::size_t total = (before + text.size() + 1 + 63) / 64 * 64;
  text.append(total - before - text.size() - 1, ' ');
  text += '\n';

  std::string preamble(kMagic);
  preamble +=
      {'\x01', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return preamble + text;
}

void write_npy(const std::string& path,
               std::string_view descr,
               const std::vector<std::uint64_t>& shape,
               std::span<const std::byte> data) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string preamble = npy_preamble(descr, shape);
  file.write(preamble.data(), static_cast<std::streamsize>(preamble.size()));
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  file.close();
  if (!file) {
    file_error("cannot write '{}'", path);
  }
}

}  // namespace pewter
