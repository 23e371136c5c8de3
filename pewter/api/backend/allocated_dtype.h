#pragma once

#include <pewter/host_array.h>

namespace pewter::backend {

/// The type of an array that is made for elements of `dtype`: float32 for what the device lacks and
/// for complex numbers, which the log says.
Dtype allocated_dtype(HostDtype dtype);

}  // namespace pewter::backend
