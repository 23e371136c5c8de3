#include "pewter/api/backend/own_stream.h"

#include "pewter/api/mps_device.h"
#include "pewter/array/graph/streams.h"

namespace pewter::backend {

std::shared_ptr<runtime::Stream> own_stream() {
  std::shared_ptr<runtime::Stream> chosen = mps::current_runtime_stream();
  if (chosen != runtime::shared_stream()) {
    return chosen;
  }
  const Stream of_arrays = graph::thread_stream(DeviceType::Gpu);
  return graph::stream_with(static_cast<std::uint32_t>(of_arrays.index));
}

}  // namespace pewter::backend
