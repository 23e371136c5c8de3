#pragma once

// Layers and drawables belong to a window system, which this device does not have. The header
// exists so that programs which include it for compute alone compile.
#include "CADefines.hpp"

namespace CA {

class MetalDrawable;
class MetalLayer;

}  // namespace CA
