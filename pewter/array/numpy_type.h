#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pewter {

/// A type of NumPy's whose elements are truths or numbers.
struct NumpyType {
  /// NumPy's letter for its kind: b, u, i, f or c.
  char kind;
  std::size_t bytes;
  /// Whether the bytes of a number are in the other order than this machine's.
  bool is_swapped;

  /// What NumPy itself writes into files, for instance "<f4".
  std::string descr() const;
};

/// What np.dtype() makes of a text: "float32", "single", "f", "f4", "<f4", ">f4" and so on. Nothing
/// for a text that names another type, or a number of more than 16 bytes or of long double.
std::optional<NumpyType> numpy_type_named(std::string_view name);

}  // namespace pewter
