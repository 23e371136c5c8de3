#include <pewter/metal.h>

#include "pewter/runtime/capture.h"
#include "pewter/runtime/device.h"

namespace pewter::metal {

bool is_available() {
  return runtime::device_available();
}

const DeviceInfo& device_info() {
  const runtime::DeviceInfo& device = runtime::device_info();
  // Never destroyed: destructors of static objects may compute.
  static const DeviceInfo& info = *new DeviceInfo{
      {"device_name", device.name},
      {"architecture", device.architecture},
      {"max_buffer_length", device.max_buffer_length},
      {"max_buffer_size", device.max_buffer_length},
      {"max_recommended_working_set_size", device.recommended_working_set},
      {"memory_size", device.memory_size},
      {"resource_limit", device.resource_limit},
  };
  return info;
}

void start_capture(const std::string& path) {
  if (runtime::device_available()) {
    runtime::start_capture(path, "[metal::start_capture]");
  }
}

void stop_capture() {
  if (runtime::device_available()) {
    runtime::stop_capture();
  }
}

}  // namespace pewter::metal
