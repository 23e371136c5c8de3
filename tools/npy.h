#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/value_type.h"

/// NumPy's .npy files, versions 1 to 3 of the format.
namespace pewter::tools {

/// What the start of a file says about its data.
struct NpyHeader {
  Element element = Element::Float;
  std::vector<std::uint64_t> shape;
  /// Where the data starts.
  std::size_t data_offset = 0;
  std::uint64_t byte_count = 0;
};

/// Bytes that are always enough to hold a header; longer ones are refused.
inline constexpr std::size_t kMaxNpyHeader = 65536;

/// Reads a header from the first bytes of a file. Throws CommandError, naming `path`, for whatever
/// is not a plain little-endian array in C order of a type that Metal has.
NpyHeader parse_npy_header(std::string_view start, const std::string& path);

/// Reads the header of a file and checks that the file is exactly as long as it says.
NpyHeader read_npy_header(const std::string& path);

/// Reads the data of a file into `data`, which is `header.byte_count` long.
void read_npy_data(const std::string& path, const NpyHeader& header, std::span<std::byte> data);

/// Writes an array. bfloat, which NumPy lacks, is written as float. Throws CommandError when it
/// cannot be written.
void write_npy(const std::string& path,
               const ValueType& type,
               const std::vector<std::uint64_t>& shape,
               std::span<const std::byte> data);

}  // namespace pewter::tools
