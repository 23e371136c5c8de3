#pragma once

#include <string>

#include "examples/support/gpu.h"
#include "examples/support/outcome.h"

namespace examples {

/// Draws the Mandelbrot set into `folder`/mandelbrot.png.
Outcome mandelbrot(Gpu& gpu, const std::string& folder);

}  // namespace examples
