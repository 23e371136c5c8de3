#pragma once

#include <math.h>  // NOLINT: the system's header brings INFINITY

#include <cstddef>
#include <cstdint>

#include <dispatch/dispatch.h>

// NOLINTBEGIN(readability-identifier-naming): the names are the system's.
using CFTimeInterval = double;
using CFStringRef = const struct __CFString*;

#define CFSTR(text) reinterpret_cast<CFStringRef>("" text "")
// NOLINTEND(readability-identifier-naming)
