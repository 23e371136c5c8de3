#pragma once

#include <functional>

#include "tests/fuzz/program.h"

namespace pewter::fuzz {

/// Whether a smaller program still shows what was found.
using Interesting = std::function<bool(const Program&)>;

/// Drops functions, statements and parts of expressions, and shrinks the grid, while the program
/// stays interesting. A candidate that does not compile must not count as interesting.
Program reduce(Program program, const Interesting& is_interesting);

}  // namespace pewter::fuzz
