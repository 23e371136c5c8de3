#include "pewter/metal/driver/device_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "pewter/base/environment.h"
#include "pewter/base/kernel_abi.h"
#include "pewter/base/log.h"

namespace pewter::driver {
namespace {

constexpr std::uint32_t kThreads = abi::kMaxThreadsPerThreadgroup;
constexpr std::uint32_t kMemory = abi::kMaxThreadgroupMemory;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// Apple8 is the newest whose compute features are all there: it brought the 64-bit atomic minimum
// and maximum. The others tell programs what those devices tell them.
constexpr DeviceProfile kProfiles[] = {
    {"pewter", "", "", MTL::GPUFamilyApple8, MTL::GPUFamilyCommon3, MTL::GPUFamilyMac2,
     MTL::GPUFamilyMetal3, kThreads, kMemory, 0, MTL::ArgumentBuffersTier2,
     MTL::ReadWriteTextureTier2},
    {"apple5", "Apple A12 GPU", "applegpu_g11p", MTL::GPUFamilyApple5, MTL::GPUFamilyCommon3, 0, 0,
     kThreads, kMemory, kGiB / 4, MTL::ArgumentBuffersTier1, MTL::ReadWriteTextureTier2},
    {"apple6", "Apple A13 GPU", "applegpu_g12p", MTL::GPUFamilyApple6, MTL::GPUFamilyCommon3, 0,
     MTL::GPUFamilyMetal3, kThreads, kMemory, kGiB, MTL::ArgumentBuffersTier2,
     MTL::ReadWriteTextureTier2},
    {"apple7", "Apple M1", "applegpu_g13g", MTL::GPUFamilyApple7, MTL::GPUFamilyCommon3,
     MTL::GPUFamilyMac2, MTL::GPUFamilyMetal3, kThreads, kMemory, 0, MTL::ArgumentBuffersTier2,
     MTL::ReadWriteTextureTier2},
    {"apple8", "Apple M2", "applegpu_g14g", MTL::GPUFamilyApple8, MTL::GPUFamilyCommon3,
     MTL::GPUFamilyMac2, MTL::GPUFamilyMetal3, kThreads, kMemory, 0, MTL::ArgumentBuffersTier2,
     MTL::ReadWriteTextureTier2},
    {"apple9", "Apple M3", "applegpu_g15g", MTL::GPUFamilyApple9, MTL::GPUFamilyCommon3,
     MTL::GPUFamilyMac2, MTL::GPUFamilyMetal3, kThreads, kMemory, 0, MTL::ArgumentBuffersTier2,
     MTL::ReadWriteTextureTier2},
    {"mac2", "AMD Radeon Pro", "amdgpu", 0, MTL::GPUFamilyCommon3, MTL::GPUFamilyMac2,
     MTL::GPUFamilyMetal3, kThreads, kMemory, 4 * kGiB, MTL::ArgumentBuffersTier2,
     MTL::ReadWriteTextureTier2},
    {"paravirtual", "Apple Paravirtual device", "paravirtual", MTL::GPUFamilyApple5,
     MTL::GPUFamilyCommon3, MTL::GPUFamilyMac2, 0, kThreads, kMemory, 4 * kGiB,
     MTL::ArgumentBuffersTier1, MTL::ReadWriteTextureTier2},
};

}  // namespace

bool DeviceProfile::supports(MTL::GPUFamily family) const {
  const auto within = [&](NS::Integer first, NS::Integer newest) {
    return family >= first && family <= newest;
  };
  return within(MTL::GPUFamilyApple1, apple_family) ||
         within(MTL::GPUFamilyCommon1, common_family) || within(MTL::GPUFamilyMac1, mac_family) ||
         within(MTL::GPUFamilyMetal3, metal_family);
}

const DeviceProfile& device_profile() {
  static const DeviceProfile& chosen = []() -> const DeviceProfile& {
    const std::string wanted = environment::text("PEWTER_PROFILE").value_or("pewter");
    std::vector<std::string_view> names;
    for (const DeviceProfile& profile : kProfiles) {
      if (profile.name == wanted) {
        return profile;
      }
      names.push_back(profile.name);
    }
    logging::warning("environment", "PEWTER_PROFILE={} is none of {}; using {}", wanted,
                     fmt::join(names, ", "), kProfiles[0].name);
    return kProfiles[0];
  }();
  return chosen;
}

}  // namespace pewter::driver
