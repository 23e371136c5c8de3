#pragma once

#include <functional>
#include <span>

#include "pewter/runtime/buffer.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {

/// Lets the host compute in the order of a stream: `work` runs once everything encoded before it
/// is done, on a thread of the driver or on one that waits for it, and what is encoded after it
/// waits for it. It must not throw or wait for the device.
void encode_host_work(Stream& stream,
                      std::span<const Buffer> reads,
                      const Buffer& writes,
                      std::function<void()> work);

}  // namespace pewter::runtime
