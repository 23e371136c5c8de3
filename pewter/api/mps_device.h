#pragma once

namespace pewter::mps {

/// Throws std::runtime_error, tagged with `origin`, without a device and in a child that was forked
/// after its parent had used the device. Otherwise notes that the device is being used.
void require_device(const char* origin);

}  // namespace pewter::mps
