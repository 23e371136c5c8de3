#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/compiler/stdlib/accuracy/math_functions.h"

namespace pewter::test {

/// How far the results of a function are from those wanted.
struct Measurement {
  std::uint64_t inputs = 0;
  /// Largest error in units of the last place, and one argument that has it.
  double worst = 0;
  double worst_input = 0;
  /// Results beyond the specification's bounds, or that are not the nearest number where they have
  /// to be; and those beyond the bound for fast math.
  std::uint64_t beyond_bound = 0;
  std::uint64_t beyond_fast_bound = 0;
  /// Zeros of the wrong sign.
  std::uint64_t wrong_zeros = 0;
  /// The first argument of any of these.
  double wrong_input = 0;

  bool is_right() const { return inputs > 0 && is_right_so_far(); }
  bool is_right_so_far() const {
    return beyond_bound == 0 && beyond_fast_bound == 0 && wrong_zeros == 0;
  }
  /// All of it in words, for a failed test.
  std::string text() const;
  void add(const Measurement& other);
};

/// Compares results of `function` for arguments of the format; all three have the same length, and
/// wanted holds `function.wanted` of each argument.
Measurement measure(const MathFunction& function,
                    const FloatFormat& format,
                    std::span<const double> arguments,
                    std::span<const float> got,
                    std::span<const double> wanted);

}  // namespace pewter::test
