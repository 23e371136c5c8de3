#include <fmt/core.h>
#include <pewter/files.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "pewter/array/files/file_error.h"
#include "pewter/array/files/input_file.h"
#include "pewter/array/files/raw_array.h"

namespace pewter {
namespace {

using files::file_error;
using Json = nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
/// As the format's own library has it.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

// By Dtype.
constexpr std::array<std::string_view, 13> kNames = {
    "BOOL", "U8", "U16", "U32", "U64", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "C64"};
constexpr std::string_view kDouble = "F64";

/// What the header says of one tensor.
struct Entry {
  std::string name;
  /// Nothing stands for numbers of 8 bytes.
  std::optional<Dtype> dtype;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Json parse(const std::string& text) const {
    std::vector<std::set<std::string>> keys;
    const auto refuse_duplicates = [&](int /*depth*/, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::object_start) {
        keys.emplace_back();
      } else if (event == Json::parse_event_t::object_end) {
        keys.pop_back();
      } else if (event == Json::parse_event_t::key &&
                 !keys.back().insert(value.get<std::string>()).second) {
        file_error("{}: '{}' appears twice in the header", path_, value.get<std::string>());
      }
      return true;
    };
    Json header;
    try {
      header = Json::parse(text, refuse_duplicates);
    } catch (const Json::exception&) {
      damaged();
    }
    if (!header.is_object()) {
      damaged();
    }
    return header;
  }

  Entry entry(const std::string& name, const Json& value) const {
    Entry read;
    read.name = name;
    if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      damaged();
    }
    const std::string type = value["dtype"].get<std::string>();
    const auto found = std::find(kNames.begin(), kNames.end(), type);
    if (found == kNames.end() && type != kDouble) {
      file_error("{}: tensor '{}' is of type '{}', which arrays do not have", path_, name, type);
    }
    if (found != kNames.end()) {
      read.dtype = static_cast<Dtype>(found - kNames.begin());
    }
    read.shape = files::checked_shape(numbers(value["shape"]), path_);
    const std::vector<std::uint64_t> places = numbers(value["data_offsets"]);
    if (places.size() != 2 || places[0] > places[1]) {
      damaged();
    }
    read.begin = places[0];
    read.end = places[1];
    return read;
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    std::map<std::string, std::string> read;
    if (!value.is_object()) {
      damaged();
    }
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) {
        damaged();
      }
      read.emplace(key, text.get<std::string>());
    }
    return read;
  }

 private:
  [[noreturn]] void damaged() const { file_error("{}: damaged .safetensors header", path_); }

  std::vector<std::uint64_t> numbers(const Json& value) const {
    std::vector<std::uint64_t> read;
    if (!value.is_array()) {
      damaged();
    }
    for (const Json& number : value) {
      if (!number.is_number_unsigned()) {
        damaged();
      }
      read.push_back(number.get<std::uint64_t>());
    }
    return read;
  }

  const std::string& path_;
};

/// The tensors must fill the data from its first byte to its last, one after the other.
void expect_no_gaps(std::vector<Entry>& entries,
                    std::uint64_t data_bytes,
                    const std::string& path) {
  std::sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    std::uint64_t bytes = entry.dtype ? size_of(*entry.dtype) : sizeof(double);
    for (const std::int64_t length : entry.shape) {
      bytes *= static_cast<std::uint64_t>(length);
    }
    if (entry.begin != at || entry.end - entry.begin != bytes) {
      file_error("{}: tensor '{}' of {} bytes is at {} to {}, where {} is expected", path,
                 entry.name, bytes, entry.begin, entry.end, at);
    }
    at = entry.end;
  }
  if (at != data_bytes) {
    file_error("{}: {} bytes of data where {} are needed", path, data_bytes, at);
  }
}

}  // namespace

SafetensorsContent load_safetensors(const std::filesystem::path& path) {
  files::InputFile file(path);
  std::array<std::byte, kLengthBytes> start = {};
  if (file.size() < kLengthBytes) {
    file_error("{}: not a .safetensors file", file.path());
  }
  file.read(0, start);
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i) {
    length = length << 8 | static_cast<std::uint64_t>(start[i - 1]);
  }
  if (length > kMaxHeader || length > file.size() - kLengthBytes) {
    file_error("{}: .safetensors header of {} bytes is longer than the file or than {}",
               file.path(), length, kMaxHeader);
  }

  const HeaderReader reader(file.path());
  const Json header = reader.parse(file.read_text(kLengthBytes, length));
  SafetensorsContent content;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      content.metadata = reader.metadata(value);
    } else {
      entries.push_back(reader.entry(name, value));
    }
  }
  const std::uint64_t data = kLengthBytes + length;
  expect_no_gaps(entries, file.size() - data, file.path());

  for (const Entry& entry : entries) {
    std::uint64_t at = data + entry.begin;
    const auto next = [&](std::span<std::byte> bytes) {
      file.read(at, bytes);
      at += bytes.size();
      if (entry.dtype == Dtype::Bool) {
        // Compiled code may rely on a bool being 0 or 1.
        std::transform(bytes.begin(), bytes.end(), bytes.begin(), [](std::byte value) {
          return value == std::byte{0} ? std::byte{0} : std::byte{1};
        });
      }
    };
    content.arrays.emplace(entry.name, entry.dtype
                                           ? files::read_array(entry.shape, *entry.dtype, next)
                                           : files::read_doubles(entry.shape, false, next));
  }
  return content;
}

void save_safetensors(const std::filesystem::path& path,
                      const NamedArrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    header[kMetadata] = metadata;
  }
  std::uint64_t at = 0;
  for (const auto& [name, value] : arrays) {
    if (name == kMetadata) {
      throw std::invalid_argument(
          fmt::format("[save_safetensors] an array cannot be named '{}'", name));
    }
    value.eval();
    header[name] = {{"dtype", kNames.at(static_cast<std::size_t>(value.dtype()))},
                    {"shape", value.shape()},
                    {"data_offsets", {at, at + value.nbytes()}}};
    at += value.nbytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& exception) {
    throw std::invalid_argument(fmt::format("[save_safetensors] {}", exception.what()));
  }
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    file.put(static_cast<char>(text.size() >> (8 * i) & 0xff));
  }
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (const auto& [name, value] : arrays) {
    const files::ArrayBytes content(value);
    const auto bytes = content.bytes();
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  file.close();
  if (!file) {
    file_error("cannot write '{}'", path.string());
  }
}

}  // namespace pewter
