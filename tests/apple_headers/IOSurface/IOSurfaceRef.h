#pragma once

// NOLINTBEGIN(readability-identifier-naming): the names are the system's.
using IOSurfaceRef = struct __IOSurface*;
// NOLINTEND(readability-identifier-naming)
