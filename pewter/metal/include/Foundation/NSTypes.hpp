#pragma once

#include <cstddef>
#include <cstdint>

#include "NSDefines.hpp"

/// Seconds, as Core Foundation spells them.
using CFTimeInterval = double;

// libdispatch's handle types, opaque here. The declarations agree with <dispatch/dispatch.h> where
// it is installed.
struct dispatch_data_s;
struct dispatch_queue_s;
using dispatch_data_t = struct dispatch_data_s*;
using dispatch_queue_t = struct dispatch_queue_s*;

namespace NS {

using TimeInterval = double;

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;

const Integer IntegerMax = INTPTR_MAX;
const Integer IntegerMin = INTPTR_MIN;
const UInteger UIntegerMax = UINTPTR_MAX;

struct OperatingSystemVersion {
  Integer majorVersion;
  Integer minorVersion;
  Integer patchVersion;
};

}  // namespace NS
