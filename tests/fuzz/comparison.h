#pragma once

#include <cstddef>
#include <string>

#include "tests/fuzz/kernel_runner.h"
#include "tests/fuzz/program.h"

namespace pewter::fuzz {

/// How far results of a mathematical function may lie apart, in units of the last place of float:
/// each implementation keeps to MSL's bound, which is 16 for pow and at most 6 for the others.
inline constexpr double kApproximateUlps = 32;

/// Elements that differ between two runs of a program.
struct Difference {
  std::size_t count = 0;
  /// A line for each of the first few: buffer, index, both values.
  std::string lines;
};

Difference compare(const Program& program,
                   const Outcome& expected,
                   const Outcome& actual,
                   std::size_t max_lines = 8);

}  // namespace pewter::fuzz
