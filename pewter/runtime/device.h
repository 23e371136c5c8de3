#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <string>

namespace pewter::runtime {

/// What does not change about the device while the process lives.
struct DeviceInfo {
  std::string name;
  std::string architecture;
  /// Largest single buffer.
  std::size_t max_buffer_length = 0;
  std::size_t recommended_working_set = 0;
  /// Physical memory of the machine.
  std::size_t memory_size = 0;
  /// How many buffers may exist at once.
  std::size_t resource_limit = 0;
};

/// Whether there is a device: the same answer for the life of the process. Cheap, never throws, and
/// creates no queue.
bool device_available();

/// The process's one device, never null. Throws std::runtime_error when there is none, and in a
/// child that was forked after its parent had used the device.
MTL::Device* device();

/// The device, or null when there is none. Unlike device() it neither throws nor counts as a use.
MTL::Device* device_or_null();

/// Throws std::runtime_error when there is no device.
const DeviceInfo& device_info();

/// Bytes of a page of memory.
std::size_t page_size();

/// Remembers that this process uses the device, so that a child forked from now on refuses to.
/// device() does it by itself.
void mark_device_used();

/// Whether this process was forked from one that had used the device.
bool in_bad_fork();

/// Throws std::runtime_error, tagged with `origin`, when in_bad_fork().
void refuse_bad_fork(const char* origin);

}  // namespace pewter::runtime
