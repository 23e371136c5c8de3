#include "pewter/array/files/raw_array.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "pewter/array/files/checked_shape.h"
#include "pewter/array/files/file_error.h"
#include "pewter/array/graph/node.h"

namespace pewter::files {
namespace {

// By Dtype; bfloat16 has none.
constexpr std::array<std::string_view, 13> kDescr = {
    "|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "", "<f4", "<c8"};

/// Doubles are converted a piece at a time: a file may be large.
constexpr std::size_t kPiece = 65536;

std::span<std::byte> memory_of(const pewter::array& value) {
  return {value.node().first(), value.nbytes()};
}

pewter::array widened(const pewter::array& value) {
  const std::vector<BFloat16> narrow = value.to_vector<BFloat16>();
  std::vector<float> wide(narrow.size());
  std::transform(narrow.begin(), narrow.end(), wide.begin(),
                 [](BFloat16 number) { return static_cast<float>(number); });
  return pewter::array(wide, value.shape(), Placement::Host);
}

}  // namespace

pewter::array read_array(const Shape& shape, Dtype dtype, const ByteSource& source) {
  pewter::array made = pewter::array::empty(shape, dtype);
  if (made.size() > 0) {
    source(memory_of(made));
  }
  return made;
}

pewter::array read_doubles(const Shape& shape, bool is_swapped, const ByteSource& source) {
  pewter::array made = pewter::array::empty(shape, Dtype::Float32);
  auto* out = reinterpret_cast<float*>(memory_of(made).data());
  std::vector<double> piece;
  for (std::size_t left = made.size(); left > 0; left -= piece.size()) {
    piece.resize(std::min(left, kPiece));
    const auto bytes = std::as_writable_bytes(std::span(piece));
    source(bytes);
    if (is_swapped) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(double)) {
        std::reverse(bytes.data() + at, bytes.data() + at + sizeof(double));
      }
    }
    out = std::transform(piece.begin(), piece.end(), out,
                         [](double number) { return static_cast<float>(number); });
  }
  return made;
}

pewter::array read_npy_array(const NpyHeader& header,
                             const std::string& path,
                             const ByteSource& source) {
  Shape shape = checked_shape(header.shape, path);
  if (header.fortran_order) {
    std::reverse(shape.begin(), shape.end());
  }
  const auto read = [&] {
    if (header.kind == 'f' && header.item_bytes == sizeof(double)) {
      return read_doubles(shape, header.is_swapped, source);
    }
    const std::string_view kind_and_size = std::string_view(header.descr).substr(1);
    const auto found = std::find_if(kDescr.begin(), kDescr.end(), [&](std::string_view descr) {
      return !descr.empty() && descr.substr(1) == kind_and_size;
    });
    if (found == kDescr.end()) {
      file_error("{}: Metal has no type for NumPy's '{}'; convert with astype('complex64')", path,
                 header.descr);
    }
    return read_array(shape, static_cast<Dtype>(found - kDescr.begin()),
                      [&](std::span<std::byte> bytes) {
                        source(bytes);
                        normalize_npy_data(header, bytes);
                      });
  };
  const pewter::array made = read();
  return header.fortran_order ? made.transposed() : made;
}

ArrayBytes::ArrayBytes(const pewter::array& value) : copy_(value.copy(Placement::Host)) {}

std::vector<std::uint64_t> ArrayBytes::shape() const {
  return {copy_.shape().begin(), copy_.shape().end()};
}

std::span<const std::byte> ArrayBytes::bytes() const {
  return memory_of(copy_);
}

ArrayBytes npy_bytes(const pewter::array& value) {
  return ArrayBytes(value.dtype() == Dtype::BFloat16 ? widened(value) : value);
}

std::string_view npy_descr(Dtype dtype) {
  return kDescr.at(static_cast<std::size_t>(dtype));
}

}  // namespace pewter::files
