#pragma once

#include <pewter/array.h>
#include <pewter/host_array.h>

namespace pewter::backend {

/// Whether this process may use a device: there is one, and the process was not forked from one
/// that used it.
bool device_usable();

/// Throws MetalError, tagged with `origin`, unless device_usable().
void require_metal(const char* origin);

/// A copy on the device; float64 becomes float32. Throws std::invalid_argument for complex128, and
/// what the allocator throws.
array to_device(const HostArray& source);

/// A copy on the host, evaluated, row contiguous; bfloat16 becomes float32.
HostArray to_host(const array& source);

}  // namespace pewter::backend
