#pragma once

#include <pewter/array.h>
#include <pewter/npy.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Arrays from the bytes of a file, and the bytes that a file gets.
namespace pewter::files {

/// Fills a span with the next bytes of a file; throws FileError when there are fewer.
using ByteSource = std::function<void(std::span<std::byte>)>;

/// An array of elements that stand in a file as arrays have them.
array read_array(const Shape& shape, Dtype dtype, const ByteSource& source);
/// An array of float32 from numbers of 8 bytes.
array read_doubles(const Shape& shape, bool is_swapped, const ByteSource& source);
/// The array that a .npy header describes. Throws FileError, naming `path`, for a type that arrays
/// lack.
array read_npy_array(const NpyHeader& header, const std::string& path, const ByteSource& source);

/// The elements, row by row, in memory that nobody else changes.
class ArrayBytes {
 public:
  /// Evaluates the array.
  explicit ArrayBytes(const array& value);

  Dtype dtype() const { return copy_.dtype(); }
  std::vector<std::uint64_t> shape() const;
  std::span<const std::byte> bytes() const;

 private:
  array copy_;
};

/// The same for NumPy: bfloat16 as float32.
ArrayBytes npy_bytes(const array& value);
/// How NumPy writes a type; not for bfloat16.
std::string_view npy_descr(Dtype dtype);

}  // namespace pewter::files
