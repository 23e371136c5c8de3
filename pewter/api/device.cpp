#include <fmt/core.h>
#include <pewter/device.h>
#include <pewter/metal.h>
#include <pewter/processor.h>

#include <stdexcept>

#include "pewter/array/graph/streams.h"
#include "pewter/runtime/device.h"

namespace pewter {
namespace {

void expect_available(const char* origin, Device device) {
  if (!is_available(device)) {
    throw std::invalid_argument(fmt::format("[{}] there is no {} with index {}", origin,
                                            device.type == DeviceType::Gpu ? "gpu" : "cpu",
                                            device.index));
  }
}

}  // namespace

Stream StreamOrDevice::resolve() const {
  if (const auto* stream = std::get_if<Stream>(&choice_)) {
    graph::expect_stream("stream", *stream);
    return *stream;
  }
  if (const auto* device = std::get_if<Device>(&choice_)) {
    return default_stream(*device);
  }
  return graph::thread_stream(graph::thread_device().type);
}

bool is_available(Device device) {
  return device.index >= 0 && device.index < device_count(device.type);
}

int device_count(DeviceType type) {
  return type == DeviceType::Cpu || runtime::device_available() ? 1 : 0;
}

DeviceInfo device_info(Device device) {
  if (!is_available(device)) {
    return {};
  }
  if (device.type == DeviceType::Gpu) {
    return metal::device_info();
  }
  const Processor host = processor();
  return {{"device_name", host.name}, {"architecture", host.target}};
}

Device default_device() {
  return graph::thread_device();
}

void set_default_device(Device device) {
  expect_available("set_default_device", device);
  graph::thread_device() = device;
}

Stream default_stream(Device device) {
  expect_available("default_stream", device);
  return graph::thread_stream(device.type);
}

void set_default_stream(Stream stream) {
  graph::expect_stream("set_default_stream", stream);
  graph::set_thread_stream(stream);
}

Stream new_stream(Device device) {
  expect_available("new_stream", device);
  return graph::make_stream(device, graph::StreamUse::OwnThread);
}

Stream new_thread_unsafe_stream(Device device) {
  expect_available("new_thread_unsafe_stream", device);
  return graph::make_stream(device, graph::StreamUse::AnyThread);
}

Stream new_thread_local_stream(Device device) {
  expect_available("new_thread_local_stream", device);
  return graph::make_stream(device, graph::StreamUse::EachThread);
}

void clear_streams() {
  graph::end_thread_streams();
}

void synchronize(Stream stream) {
  graph::expect_stream("synchronize", stream);
  // Without a device nothing can have been submitted.
  if (runtime::device_available()) {
    graph::stream_with(static_cast<std::uint32_t>(stream.index))->synchronize();
  }
}

void synchronize() {
  synchronize(default_stream(default_device()));
}

StreamContext::StreamContext(StreamOrDevice chosen)
    : device_before_(default_device()), stream_before_() {
  if (!chosen.is_given()) {
    throw std::runtime_error("[StreamContext] neither a stream nor a device is given");
  }
  const Stream stream = chosen.resolve();
  stream_before_ = graph::thread_stream(stream.device.type);
  graph::thread_device() = stream.device;
  graph::set_thread_stream(stream);
}

StreamContext::~StreamContext() {
  graph::set_thread_stream(stream_before_);
  graph::thread_device() = device_before_;
}

}  // namespace pewter
