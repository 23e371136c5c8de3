#pragma once

#include <cstddef>
#include <string>

#include "tests/fuzz/kernel_runner.h"
#include "tests/fuzz/program.h"

namespace pewter::fuzz {

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
