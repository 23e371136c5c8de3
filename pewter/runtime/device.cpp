#include "pewter/runtime/device.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/system_memory.h"

namespace pewter::runtime {
namespace {

// What Metal allows when the system names no limit of its own.
constexpr std::size_t kDefaultResourceLimit = 499000;

std::atomic<bool> device_used = false;
std::atomic<bool> bad_fork = false;

std::string text(const NS::String* string) {
  const char* characters = string != nullptr ? string->utf8String() : nullptr;
  return characters != nullptr ? characters : "";
}

DeviceInfo read_info(MTL::Device* device) {
  const AutoreleaseScope scope;
  DeviceInfo info;
  info.name = text(device->name());
  info.architecture = text(device->architecture()->name());
  info.max_buffer_length = device->maxBufferLength();
  info.recommended_working_set = device->recommendedMaxWorkingSetSize();
  info.memory_size = std::max(physical_memory(), info.recommended_working_set);
  info.resource_limit = kDefaultResourceLimit;
  return info;
}

void note_fork() {
  if (device_used.load()) {
    bad_fork.store(true);
  }
}

}  // namespace

MTL::Device* device_or_null() {
  // Kept for the life of the process: buffers may be freed by destructors of static objects.
  static MTL::Device* const instance = [] {
    const AutoreleaseScope scope;
    return MTL::CreateSystemDefaultDevice();
  }();
  return instance;
}

bool device_available() {
  return device_or_null() != nullptr;
}

MTL::Device* device() {
  MTL::Device* instance = device_or_null();
  if (instance == nullptr) {
    throw std::runtime_error(
        "[metal] there is no device; it may have been turned off with PEWTER_DEVICE=none");
  }
  refuse_bad_fork("[metal]");
  mark_device_used();
  return instance;
}

const DeviceInfo& device_info() {
  MTL::Device* instance = device_or_null();
  if (instance == nullptr) {
    throw std::runtime_error(
        "[metal::device_info] there is no device; it may have been turned off with "
        "PEWTER_DEVICE=none");
  }
  // Never destroyed: destructors of static objects may compute.
  static const DeviceInfo& info = *new DeviceInfo(read_info(instance));
  return info;
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void mark_device_used() {
  static const int registered = pthread_atfork(nullptr, nullptr, &note_fork);
  static_cast<void>(registered);
  if (!device_used.load(std::memory_order_relaxed)) {
    device_used.store(true);
  }
}

bool in_bad_fork() {
  return bad_fork.load(std::memory_order_relaxed);
}

void refuse_bad_fork(const char* origin) {
  if (in_bad_fork()) {
    throw std::runtime_error(
        fmt::format("{} this process was forked from one that had used the device, which a forked "
                    "child cannot use; start it with spawn instead",
                    origin));
  }
}

}  // namespace pewter::runtime
