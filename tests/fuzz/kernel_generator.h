#pragma once

#include <cstdint>

#include "tests/fuzz/program.h"

namespace pewter::fuzz {

/// The kernel of a seed: always the same one, with one possible result.
Program generate(std::uint64_t seed);

}  // namespace pewter::fuzz
