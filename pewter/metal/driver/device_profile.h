#pragma once

#include <Metal/MTLDevice.hpp>
#include <cstdint>
#include <string_view>

namespace pewter::driver {

/// What a device claims to be: `PEWTER_PROFILE` chooses, so that the paths that a program takes on
/// other devices can be tested. Kernels run the same under every profile.
struct DeviceProfile {
  std::string_view name;
  /// Names of the device and its architecture; empty for this machine's.
  const char* device_name;
  const char* architecture;
  /// The newest of each line of families; 0 for none.
  NS::Integer apple_family;
  NS::Integer common_family;
  NS::Integer mac_family;
  NS::Integer metal_family;
  std::uint32_t max_threads;
  std::uint32_t max_threadgroup_bytes;
  /// 0 for what the machine's memory allows.
  std::uint64_t max_buffer_bytes;
  MTL::ArgumentBuffersTier argument_buffers;
  MTL::ReadWriteTextureTier read_write_textures;

  bool supports(MTL::GPUFamily family) const;
};

/// The profile of this process; the usual one when `PEWTER_PROFILE` is not set or names none.
const DeviceProfile& device_profile();

}  // namespace pewter::driver
