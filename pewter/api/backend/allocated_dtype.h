#pragma once

#include <pewter/host_array.h>

#include <string_view>

namespace pewter::backend {

/// The type of an array that is made for elements of `dtype`: float32 for what the device lacks and
/// for complex numbers, which the log says.
Dtype allocated_dtype(HostDtype dtype);

/// float32, which the log says stands for a type of that name.
Dtype float_instead_of(std::string_view name);

}  // namespace pewter::backend
