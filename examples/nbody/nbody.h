#pragma once

#include "examples/support/gpu.h"
#include "examples/support/outcome.h"

namespace examples {

/// A few steps of gravity between bodies that start at random places.
Outcome nbody(Gpu& gpu);

}  // namespace examples
