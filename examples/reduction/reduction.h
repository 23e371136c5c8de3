#pragma once

#include "examples/support/gpu.h"
#include "examples/support/outcome.h"

namespace examples {

/// The sum of a long array, in two passes of the same kernel.
Outcome reduction(Gpu& gpu);

}  // namespace examples
