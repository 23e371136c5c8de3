#include "pewter/metal/driver/device.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>

#include "pewter/base/cpu.h"
#include "pewter/base/environment.h"
#include "pewter/base/hash.h"
#include "pewter/metal/driver/device_profile.h"
#include "pewter/metal/executor/executor.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {
namespace {

/// The machine's memory, or what the control group leaves of it.
std::uint64_t read_memory_bytes() {
  const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  std::ifstream file("/sys/fs/cgroup/memory.max");
  if (!(file >> limit)) {
    return physical;
  }
  return std::min(physical, limit);
}

}  // namespace

Device::Device()
    : Object(kClass),
      name(make_string(device_profile().device_name[0] != 0 ? device_profile().device_name
                                                            : "pewter (" + cpu::brand() + ")")),
      architecture(make_ref<Architecture>()),
      registry_id(Hasher().add(name->text).digest().low | 1),
      memory_bytes_(read_memory_bytes()) {
  const char* claimed = device_profile().architecture;
  architecture->name = make_string(claimed[0] != 0 ? claimed : "pewter_" + cpu::level());
  make_immortal();
}

bool Device::claim(std::uint64_t bytes) {
  std::uint64_t before = allocated_.load(std::memory_order_relaxed);
  do {
    if (bytes > memory_bytes_ - std::min(before, memory_bytes_)) {
      return false;
    }
  } while (!allocated_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  return true;
}

std::uint64_t Device::max_buffer_length() const {
  const std::uint64_t possible = memory_bytes_ / 2 / 4096 * 4096;
  const std::uint64_t claimed = device_profile().max_buffer_bytes;
  return claimed != 0 ? std::min(claimed, possible) : possible;
}

Device& device() {
  static Device& instance = *make<Device>();
  return instance;
}

void Device::know_pipeline(const Object* pipeline) {
  std::scoped_lock lock(mutex_);
  pipelines_.insert(reinterpret_cast<std::uintptr_t>(pipeline));
}

void Device::forget_pipeline(const Object* pipeline) {
  std::scoped_lock lock(mutex_);
  pipelines_.erase(reinterpret_cast<std::uintptr_t>(pipeline));
}

bool Device::knows_pipeline(std::uint64_t address) const {
  std::scoped_lock lock(mutex_);
  return pipelines_.count(address) != 0;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Device;
using driver::get;
using driver::impl;

namespace MTL {

DeviceNotificationName const DeviceWasAddedNotification = MTLSTR("MTLDeviceWasAddedNotification");
DeviceNotificationName const DeviceRemovalRequestedNotification =
    MTLSTR("MTLDeviceRemovalRequestedNotification");
DeviceNotificationName const DeviceWasRemovedNotification =
    MTLSTR("MTLDeviceWasRemovedNotification");

Device* CreateSystemDefaultDevice() {
  const bool wanted = pewter::environment::text("PEWTER_DEVICE").value_or("") != "none";
  return wanted ? driver::handle(&driver::device()) : nullptr;
}

NS::Array* CopyAllDevices() {
  auto array = driver::make_ref<pewter::foundation::Array>();
  if (auto* device = impl<Body>(CreateSystemDefaultDevice())) {
    array->items.emplace_back(device);
  }
  return driver::handle(array.leak());
}

NS::Array* CopyAllDevicesWithObserver(NS::Object** pOutObserver,
                                      const DeviceNotificationHandlerFunction&) {
  if (pOutObserver != nullptr) {
    *pOutObserver = NS::String::string();
  }
  return CopyAllDevices();
}

void RemoveDeviceObserver(const NS::Object*) {}

}  // namespace MTL

MTL::Architecture* MTL::Architecture::alloc() {
  return driver::handle(driver::make<driver::Architecture>());
}

MTL::Architecture* MTL::Architecture::init() {
  return this;
}

NS::String* MTL::Architecture::name() const {
  return get(this, &driver::Architecture::name);
}

NS::String* MTL::Device::name() const {
  return get(this, &Body::name);
}

std::uint64_t MTL::Device::registryID() const {
  return get(this, &Body::registry_id);
}

MTL::Architecture* MTL::Device::architecture() const {
  return get(this, &Body::architecture);
}

MTL::Size MTL::Device::maxThreadsPerThreadgroup() const {
  const NS::UInteger limit = impl<Body>(this) != nullptr ? driver::device_profile().max_threads : 0;
  return Size(limit, limit, limit);
}

NS::UInteger MTL::Device::maxThreadgroupMemoryLength() const {
  return impl<Body>(this) != nullptr ? driver::device_profile().max_threadgroup_bytes : 0;
}

NS::UInteger MTL::Device::maxBufferLength() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->max_buffer_length() : 0;
}

std::uint64_t MTL::Device::recommendedMaxWorkingSetSize() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->recommended_working_set() : 0;
}

std::uint64_t MTL::Device::maxTransferRate() const {
  return 0;
}

NS::UInteger MTL::Device::maxArgumentBufferSamplerCount() const {
  // A sampler of an argument buffer takes nothing but its eight bytes.
  return impl<Body>(this) != nullptr ? 500'000 : 0;
}

NS::UInteger MTL::Device::currentAllocatedSize() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->allocated() : 0;
}

bool MTL::Device::lowPower() const {
  return isLowPower();
}

bool MTL::Device::isLowPower() const {
  return false;
}

bool MTL::Device::headless() const {
  return isHeadless();
}

bool MTL::Device::isHeadless() const {
  return impl<Body>(this) != nullptr;
}

bool MTL::Device::removable() const {
  return isRemovable();
}

bool MTL::Device::isRemovable() const {
  return false;
}

bool MTL::Device::hasUnifiedMemory() const {
  return impl<Body>(this) != nullptr;
}

MTL::DeviceLocation MTL::Device::location() const {
  return DeviceLocationBuiltIn;
}

NS::UInteger MTL::Device::locationNumber() const {
  return 0;
}

std::uint64_t MTL::Device::peerGroupID() const {
  return 0;
}

std::uint32_t MTL::Device::peerIndex() const {
  return 0;
}

std::uint32_t MTL::Device::peerCount() const {
  return 0;
}

bool MTL::Device::supportsFamily(MTL::GPUFamily gpuFamily) {
  if (impl<Body>(this) == nullptr) {
    return false;
  }
  return driver::device_profile().supports(gpuFamily);
}

bool MTL::Device::supportsFeatureSet(MTL::FeatureSet featureSet) {
  return impl<Body>(this) != nullptr && featureSet >= FeatureSet_macOS_GPUFamily1_v1 &&
         featureSet <= FeatureSet_macOS_GPUFamily2_v1 &&
         featureSet != FeatureSet_macOS_ReadWriteTextureTier2;
}

MTL::ArgumentBuffersTier MTL::Device::argumentBuffersSupport() const {
  return impl<Body>(this) != nullptr ? driver::device_profile().argument_buffers
                                     : ArgumentBuffersTier1;
}

MTL::ReadWriteTextureTier MTL::Device::readWriteTextureSupport() const {
  return impl<Body>(this) != nullptr ? driver::device_profile().read_write_textures
                                     : ReadWriteTextureTierNone;
}

// There is no rendering and no ray tracing.

bool MTL::Device::areRasterOrderGroupsSupported() const {
  return false;
}

bool MTL::Device::rasterOrderGroupsSupported() const {
  return false;
}

bool MTL::Device::supports32BitFloatFiltering() const {
  return impl<Body>(this) != nullptr;
}

bool MTL::Device::supports32BitMSAA() const {
  return false;
}

bool MTL::Device::supportsQueryTextureLOD() const {
  return false;
}

bool MTL::Device::supportsBCTextureCompression() const {
  return false;
}

bool MTL::Device::supportsPullModelInterpolation() const {
  return false;
}

bool MTL::Device::supportsShaderBarycentricCoordinates() const {
  return false;
}

bool MTL::Device::supportsTextureSampleCount(NS::UInteger) {
  return false;
}

bool MTL::Device::supportsRasterizationRateMap(NS::UInteger) {
  return false;
}

bool MTL::Device::supportsVertexAmplificationCount(NS::UInteger) {
  return false;
}

bool MTL::Device::supportsDynamicLibraries() const {
  return false;
}

bool MTL::Device::supportsRenderDynamicLibraries() const {
  return false;
}

bool MTL::Device::supportsRaytracing() const {
  return false;
}

bool MTL::Device::supportsRaytracingFromRender() const {
  return false;
}

bool MTL::Device::supportsPrimitiveMotionBlur() const {
  return false;
}

bool MTL::Device::supportsFunctionPointers() const {
  return false;
}

bool MTL::Device::supportsFunctionPointersFromRender() const {
  return false;
}

bool MTL::Device::shouldMaximizeConcurrentCompilation() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->maximize_compilation;
}

void MTL::Device::setShouldMaximizeConcurrentCompilation(bool shouldMaximizeConcurrentCompilation) {
  if (auto* self = impl<Body>(this)) {
    self->maximize_compilation = shouldMaximizeConcurrentCompilation;
  }
}

NS::UInteger MTL::Device::maximumConcurrentCompilationTaskCount() const {
  return impl<Body>(this) != nullptr ? pewter::executor::thread_count() : 0;
}

void MTL::Device::sampleTimestamps(MTL::Timestamp* cpuTimestamp, MTL::Timestamp* gpuTimestamp) {
  if (impl<Body>(this) == nullptr) {
    return;
  }
  const auto now = static_cast<Timestamp>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                              std::chrono::steady_clock::now().time_since_epoch())
                                              .count());
  for (Timestamp* place : {cpuTimestamp, gpuTimestamp}) {
    if (place != nullptr) {
      *place = now;
    }
  }
}
