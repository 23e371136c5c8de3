#pragma once

#include <pewter/export.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// NumPy's .npy format, versions 1 to 3, down to its bytes. Whoever wants arrays calls load() and
/// save() of <pewter/files.h>.
namespace pewter {

/// What the start of a file says about its data.
struct NpyHeader {
  /// The type as NumPy itself writes it, for instance "<f4", whatever other name the file has.
  std::string descr;
  /// NumPy's kind of number: b, u, i, f or c.
  char kind = 'f';
  std::size_t item_bytes = 0;
  /// Whether the bytes of a number are in the other order than this machine's.
  bool is_swapped = false;
  /// Whether the first axis is the one that runs fastest.
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  /// Where the data starts.
  std::size_t data_offset = 0;
  std::uint64_t byte_count = 0;
};

/// Bytes that are always enough to hold a header; longer ones are refused.
inline constexpr std::size_t kMaxNpyHeader = 65536;

/// Reads a header from the first bytes of a file. Throws FileError, naming `path`, for whatever is
/// not an array of numbers.
PEWTER_EXPORT NpyHeader parse_npy_header(std::string_view start, const std::string& path);

/// Reads the header of a file and checks that the file is exactly as long as it says.
PEWTER_EXPORT NpyHeader read_npy_header(const std::string& path);

/// Reads the data of a file into `data`, which is `header.byte_count` long, in this machine's order
/// of bytes.
PEWTER_EXPORT void read_npy_data(const std::string& path,
                                 const NpyHeader& header,
                                 std::span<std::byte> data);

/// Makes data that was read as it stands in a file fit for use: bytes in this machine's order,
/// truths 0 or 1.
PEWTER_EXPORT void normalize_npy_data(const NpyHeader& header, std::span<std::byte> data);

/// Everything of a file that stands before the data, for an array in row order.
PEWTER_EXPORT std::string npy_preamble(std::string_view descr,
                                       const std::vector<std::uint64_t>& shape);

/// Throws FileError when it cannot be written.
PEWTER_EXPORT void write_npy(const std::string& path,
                             std::string_view descr,
                             const std::vector<std::uint64_t>& shape,
                             std::span<const std::byte> data);

}  // namespace pewter
