#include "pewter/array/files/safetensors_header.h"

#include <pewter/dtype.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/file_error.h"

namespace pewter::files {
namespace {

using Json = nlohmann::json;

/// Objects and arrays in each other: a shape in a tensor in the header.
constexpr int kMaxDepth = 3;

// By Dtype.
constexpr std::array<std::string_view, 13> kNames = {
    "BOOL", "U8", "U16", "U32", "U64", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "C64"};
constexpr std::string_view kDouble = "F64";

class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Json parse(const std::string& text) const {
    std::vector<std::set<std::string>> keys;
    const auto refuse_duplicates = [&](int depth, Json::parse_event_t event, Json& value) {
      // Values take many times the memory of the brackets that open them.
      if (depth > kMaxDepth) {
        damaged();
      }
      if (event == Json::parse_event_t::object_start) {
        keys.emplace_back();
      } else if (event == Json::parse_event_t::object_end) {
        keys.pop_back();
      } else if (event == Json::parse_event_t::key &&
                 !keys.back().insert(value.get<std::string>()).second) {
        file_error("{}: '{}' appears twice in the header", path_,
                   printable(value.get<std::string>()));
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

  TensorPlace tensor(const std::string& name, const Json& value) const {
    TensorPlace read;
    read.name = name;
    if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      damaged();
    }
    const std::string type = value["dtype"].get<std::string>();
    const auto found = std::find(kNames.begin(), kNames.end(), type);
    if (found == kNames.end() && type != kDouble) {
      file_error("{}: tensor '{}' is of type '{}', which arrays do not have", path_,
                 printable(name), printable(type));
    }
    if (found != kNames.end()) {
      read.dtype = static_cast<Dtype>(found - kNames.begin());
    }
    read.shape = checked_shape(numbers(value["shape"]), path_);
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
void expect_no_gaps(std::vector<TensorPlace>& tensors,
                    std::uint64_t data_bytes,
                    const std::string& path) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorPlace& left, const TensorPlace& right) {
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  std::uint64_t at = 0;
  for (const TensorPlace& tensor : tensors) {
    std::uint64_t bytes = tensor.dtype ? size_of(*tensor.dtype) : sizeof(double);
    for (const std::int64_t length : tensor.shape) {
      bytes *= static_cast<std::uint64_t>(length);
    }
    if (tensor.begin != at || tensor.end - tensor.begin != bytes) {
      file_error("{}: tensor '{}' of {} bytes is at {} to {}, where {} is expected", path,
                 printable(tensor.name), bytes, tensor.begin, tensor.end, at);
    }
    at = tensor.end;
  }
  if (at != data_bytes) {
    file_error("{}: {} bytes of data where {} are needed", path, data_bytes, at);
  }
}

}  // namespace

std::string_view safetensors_type(Dtype dtype) {
  return kNames.at(static_cast<std::size_t>(dtype));
}

SafetensorsHeader read_safetensors_header(InputFile& file) {
  std::array<std::byte, kSafetensorsLengthBytes> start = {};
  if (file.size() < kSafetensorsLengthBytes) {
    file_error("{}: not a .safetensors file", file.path());
  }
  file.read(0, start);
  std::uint64_t length = 0;
  for (std::size_t i = kSafetensorsLengthBytes; i > 0; --i) {
    length = length << 8 | static_cast<std::uint64_t>(start[i - 1]);
  }
  if (length > kMaxSafetensorsHeader || length > file.size() - kSafetensorsLengthBytes) {
    file_error("{}: .safetensors header of {} bytes is longer than the file or than {}",
               file.path(), length, kMaxSafetensorsHeader);
  }

  const HeaderReader reader(file.path());
  const Json json = reader.parse(file.read_text(kSafetensorsLengthBytes, length));
  SafetensorsHeader header;
  header.data_offset = kSafetensorsLengthBytes + length;
  for (const auto& [name, value] : json.items()) {
    if (name == kSafetensorsMetadata) {
      header.metadata = reader.metadata(value);
    } else {
      header.tensors.push_back(reader.tensor(name, value));
    }
  }
  expect_no_gaps(header.tensors, file.size() - header.data_offset, file.path());
  return header;
}

}  // namespace pewter::files
