#pragma once

#include "examples/support/gpu.h"
#include "examples/support/outcome.h"

namespace examples {

/// A product of two matrices whose sizes are not multiples of the tile.
Outcome matmul(Gpu& gpu);

}  // namespace examples
