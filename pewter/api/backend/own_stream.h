#pragma once

#include <memory>

#include "pewter/runtime/stream.h"

namespace pewter::backend {

/// The stream that the calling thread has chosen for shaders, or else that of its arrays: not the
/// one that all threads share, whose failures may be other threads'. Throws std::runtime_error
/// without a device.
std::shared_ptr<runtime::Stream> own_stream();

}  // namespace pewter::backend
