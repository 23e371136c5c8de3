#pragma once

#include <pewter/npy.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/value_type.h"

/// NumPy's .npy files as buffers of kernels. The format is <pewter/npy.h>'s business.
namespace pewter::tools {

/// A header whose data can be put into a buffer as it stands.
struct BufferHeader : NpyHeader {
  Element element = Element::Float;
};

/// Reads a header from the first bytes of a file. Throws CommandError, naming `path`, for whatever
/// is not a plain little-endian array in C order of a type that Metal has.
BufferHeader parse_buffer_header(std::string_view start, const std::string& path);

/// Reads the header of a file and checks that the file is exactly as long as it says.
BufferHeader read_buffer_header(const std::string& path);

/// Reads the data of a file into `data`, which is `header.byte_count` long.
void read_buffer_data(const std::string& path,
                      const BufferHeader& header,
                      std::span<std::byte> data);

/// Writes an array. bfloat, which NumPy lacks, is written as float. Throws CommandError when it
/// cannot be written.
void write_buffer(const std::string& path,
                  const ValueType& type,
                  const std::vector<std::uint64_t>& shape,
                  std::span<const std::byte> data);

}  // namespace pewter::tools
