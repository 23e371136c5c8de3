#pragma once

#include <pewter/array.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pewter/array/files/input_file.h"

namespace pewter::files {

/// The name in a header that no tensor has.
inline constexpr const char* kSafetensorsMetadata = "__metadata__";
/// Of the number that a file begins with.
inline constexpr std::uint64_t kSafetensorsLengthBytes = 8;
/// Bytes, as the format's own library has it.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// What a header says of one tensor.
struct TensorPlace {
  std::string name;
  /// Nothing stands for numbers of 8 bytes.
  std::optional<Dtype> dtype;
  Shape shape;
  /// From the first byte of all data.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  /// In the order of their data, which they fill without gaps.
  std::vector<TensorPlace> tensors;
  std::uint64_t data_offset = 0;
};

/// Throws FileError for whatever the format forbids, before memory is taken for what a file only
/// claims to hold.
SafetensorsHeader read_safetensors_header(InputFile& file);

/// How a header names a type.
std::string_view safetensors_type(Dtype dtype);

}  // namespace pewter::files
