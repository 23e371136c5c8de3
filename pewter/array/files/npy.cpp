#include <fmt/core.h>
#include <fmt/ranges.h>
#include <pewter/npy.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/file_error.h"
#include "pewter/array/numpy_type.h"

namespace pewter {
namespace {

using files::file_error;
using files::kMaxDimensions;

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the Python dictionary of a header: strings, booleans and tuples of whole numbers, nothing
/// else.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, int version, const std::string& path)
      : text_(text), version_(version), path_(path) {}

  void read(NpyHeader& header) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string("a key");
      expect(':');
      member(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!text_.empty()) {
      damaged("more than one dictionary");
    }
    if (seen_ != kAllKeys) {
      damaged("descr, fortran_order or shape is missing");
    }
  }

 private:
  static constexpr unsigned kDescr = 1;
  static constexpr unsigned kOrder = 2;
  static constexpr unsigned kShape = 4;
  static constexpr unsigned kAllKeys = kDescr | kOrder | kShape;
  static constexpr std::string_view kNoTuple = "the shape is not a tuple of whole numbers";

  [[noreturn]] void damaged(std::string_view what) const {
    file_error("{}: damaged .npy header: {}", path_, what);
  }

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
      damaged(fmt::format("unknown key '{}'", files::printable(key)));
    }
  }

  void once(unsigned key) {
    if ((seen_ & key) != 0) {
      damaged("a key appears twice");
    }
    seen_ |= key;
  }

  void type(NpyHeader& header) {
    skip_spaces();
    if (!text_.empty() && text_.front() == '[') {
      file_error("{}: arrays of records are not supported", path_);
    }
    const std::string_view name = string("descr");
    const std::optional<NumpyType> type = numpy_type_named(name);
    if (!type) {
      file_error(
          "{}: Metal has no type for NumPy's '{}'; convert with astype('float32') or another",
          path_, files::printable(name));
    }
    header.descr = type->descr();
    header.kind = type->kind;
    header.item_bytes = type->bytes;
    header.is_swapped = type->is_swapped;
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    if (!accept('(')) {
      damaged(kNoTuple);
    }
    while (!accept(')')) {
      if (shape.size() == kMaxDimensions) {
        file_error("{}: more than {} dimensions", path_, kMaxDimensions);
      }
      shape.push_back(number());
      if (accept(',')) {
        continue;
      }
      // In Python (6) is a number, and (6,) is a tuple.
      if (!accept(')') || shape.size() == 1) {
        damaged(kNoTuple);
      }
      break;
    }
    return shape;
  }

  std::uint64_t number() {
    skip_spaces();
    const std::size_t length = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const std::string_view digits = text_.substr(0, length);
    if (digits.empty()) {
      damaged(kNoTuple);
    }
    // Python reads no other number that begins so.
    if (digits[0] == '0' && digits.find_first_not_of('0') != digits.npos) {
      damaged(fmt::format("{} in the shape begins with 0", files::printable(digits)));
    }
    std::uint64_t value = 0;
    if (std::from_chars(text_.data(), text_.data() + text_.size(), value).ec != std::errc()) {
      damaged(fmt::format("{} in the shape is too large", files::printable(digits)));
    }
    text_.remove_prefix(length);
    // What Python 2 wrote behind long numbers.
    if (version_ <= 2) {
      accept('L');
    }
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
    damaged("fortran_order is neither True nor False");
  }

  std::string_view string(std::string_view what) {
    skip_spaces();
    const bool is_quoted = !text_.empty() && (text_.front() == '\'' || text_.front() == '"');
    const auto end = is_quoted ? text_.find(text_.front(), 1) : text_.npos;
    if (end == text_.npos) {
      damaged(fmt::format("{} is not a string", what));
    }
    const std::string_view content = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return content;
  }

  void expect(char letter) {
    if (!accept(letter)) {
      damaged(fmt::format("no '{}' where one belongs", letter));
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
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n\f\r"), text_.size()));
  }

  std::string_view text_;
  const int version_;
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
  DictionaryReader(start.substr(text_offset, length), major, path).read(header);
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
