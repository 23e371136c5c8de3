#pragma once

#include <pewter/array.h>

namespace pewter::ops {

/// An array on the device that gets its memory, and the elements of `a`, which is on the host, when
/// it is evaluated.
array uploaded(const array& a);

}  // namespace pewter::ops
