#pragma once

#include <pewter/array.h>
#include <pewter/export.h>

#include <cstddef>
#include <iosfwd>
#include <string>

namespace pewter {

/// How arrays become text; the defaults are NumPy's.
struct PrintOptions {
  /// Digits after the point, at most.
  int precision = 8;
  /// With more elements than this, only the ends of the axes are shown.
  std::size_t threshold = 1000;
  /// How many elements those ends have.
  std::size_t edge_items = 3;
  std::size_t line_width = 75;
};

/// The elements as NumPy's str() shows them, for instance "[1.  2.5]". Evaluates the array.
PEWTER_EXPORT std::string to_string(const array& value, const PrintOptions& options = {});

/// As NumPy's repr() shows it, for instance "array([1. , 2.5], dtype=float32)".
PEWTER_EXPORT std::string repr(const array& value, const PrintOptions& options = {});

/// to_string().
PEWTER_EXPORT std::ostream& operator<<(std::ostream& stream, const array& value);

}  // namespace pewter
