#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/compiler/stdlib/accuracy/measurement.h"

namespace pewter::test {

/// How the kernel that computes a function is compiled.
struct SweepMode {
  bool is_spmd = true;
  /// "safe", "relaxed" or "fast", as MTL::MathMode has it.
  std::string math = "fast";
  /// Whether functions without a namespace are those of metal::fast.
  bool has_fast_functions = false;
  /// "", "fast" or "precise": where the function is taken from.
  std::string space = {};
};

struct Sweep {
  const MathFunction& function;
  const FloatFormat& format;
  /// Every how many numbers of the format, zero first, are taken.
  std::uint32_t stride = 1;
  unsigned jobs = 1;
};

/// Runs the function for the numbers of both signs and measures the results. `progress` is called
/// with the share that is done, from one thread at a time. Throws std::runtime_error with the
/// reason when a kernel does not compile or run.
Measurement measure(const Sweep& sweep,
                    const SweepMode& mode,
                    const std::function<void(double)>& progress);

/// How many results differ in their bits between two modes; all NaN are the same.
std::uint64_t count_differences(const Sweep& sweep, const SweepMode& one, const SweepMode& other);

/// Whether metal::fast and metal::precise have the function under its own name.
bool has_spaces(const MathFunction& function);

}  // namespace pewter::test
