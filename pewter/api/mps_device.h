#pragma once

#include <memory>

namespace pewter::runtime {
class Stream;
}  // namespace pewter::runtime

namespace pewter::mps {

/// Throws std::runtime_error, tagged with `origin`, without a device and in a child that was forked
/// after its parent had used the device. Otherwise notes that the device is being used.
void require_device(const char* origin);

/// Where the calling thread's work goes.
std::shared_ptr<runtime::Stream> current_runtime_stream();

}  // namespace pewter::mps
