#include <fmt/core.h>
#include <pewter/files.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/file_error.h"
#include "pewter/array/files/input_file.h"
#include "pewter/array/files/raw_array.h"
#include "pewter/array/files/safetensors_header.h"

namespace pewter {
namespace {

using files::file_error;
using Json = nlohmann::json;

}  // namespace

SafetensorsContent load_safetensors(const std::filesystem::path& path) {
  files::InputFile file(path);
  files::SafetensorsHeader header = files::read_safetensors_header(file);
  SafetensorsContent content;
  content.metadata = std::move(header.metadata);
  for (const files::TensorPlace& tensor : header.tensors) {
    std::uint64_t at = header.data_offset + tensor.begin;
    const auto next = [&](std::span<std::byte> bytes) {
      file.read(at, bytes);
      at += bytes.size();
      if (tensor.dtype == Dtype::Bool) {
        // Compiled code may rely on a bool being 0 or 1.
        std::transform(bytes.begin(), bytes.end(), bytes.begin(), [](std::byte value) {
          return value == std::byte{0} ? std::byte{0} : std::byte{1};
        });
      }
    };
    content.arrays.emplace(tensor.name, tensor.dtype
                                            ? files::read_array(tensor.shape, *tensor.dtype, next)
                                            : files::read_doubles(tensor.shape, false, next));
  }
  return content;
}

void save_safetensors(const std::filesystem::path& path,
                      const NamedArrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    header[files::kSafetensorsMetadata] = metadata;
  }
  std::uint64_t at = 0;
  for (const auto& [name, value] : arrays) {
    if (name == files::kSafetensorsMetadata) {
      throw std::invalid_argument(
          fmt::format("[save_safetensors] an array cannot be named '{}'", name));
    }
    files::expect_readable(value.shape(), path.string());
    value.eval();
    header[name] = {{"dtype", files::safetensors_type(value.dtype())},
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
  text.append((files::kSafetensorsLengthBytes - text.size() % files::kSafetensorsLengthBytes) %
                  files::kSafetensorsLengthBytes,
              ' ');
  if (text.size() > files::kMaxSafetensorsHeader) {
    file_error("{}: a header of {} bytes, and files have at most {}", path.string(), text.size(),
               files::kMaxSafetensorsHeader);
  }

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::size_t i = 0; i < files::kSafetensorsLengthBytes; ++i) {
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
