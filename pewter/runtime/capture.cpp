#include "pewter/runtime/capture.h"

#include <fmt/format.h>
#include <Metal/Metal.hpp>
#include <atomic>
#include <stdexcept>

#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {

void start_capture(const std::string& path, const std::string& origin) {
  const AutoreleaseScope scope;
  MTL::Device* metal = device();
  auto* manager = MTL::CaptureManager::sharedCaptureManager();
  const auto destination = path.empty() ? MTL::CaptureDestinationDeveloperTools
                                        : MTL::CaptureDestinationGPUTraceDocument;
  if (!manager->supportsDestination(destination)) {
    throw std::runtime_error(
        origin + (path.empty() ? " destination unsupported: no developer tools are attached; give "
                                 "the path of a trace document"
                               : " destination unsupported: this device does not record trace "
                                 "documents, so '" +
                                     path + "' was not written"));
  }
  const auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
  descriptor->setCaptureObject(metal);
  descriptor->setDestination(destination);
  if (!path.empty()) {
    descriptor->setOutputURL(
        NS::URL::fileURLWithPath(NS::String::string(path.c_str(), NS::UTF8StringEncoding)));
  }
  NS::Error* error = nullptr;
  if (!manager->startCapture(descriptor.get(), &error)) {
    const NS::String* reason = error != nullptr ? error->localizedDescription() : nullptr;
    throw std::runtime_error(origin + " '" + path +
                             "': " + (reason != nullptr ? reason->utf8String() : "failed"));
  }
}

void stop_capture() {
  const AutoreleaseScope scope;
  auto* manager = MTL::CaptureManager::sharedCaptureManager();
  if (in_bad_fork() || !manager->isCapturing()) {
    return;
  }
  try {
    synchronize_all();
  } catch (...) {
    manager->stopCapture();
    throw;
  }
  manager->stopCapture();
}

bool capture_supported() {
  const AutoreleaseScope scope;
  return device_available() && MTL::CaptureManager::sharedCaptureManager()->supportsDestination(
                                   MTL::CaptureDestinationGPUTraceDocument);
}

bool capturing() {
  const AutoreleaseScope scope;
  return device_available() && !in_bad_fork() &&
         MTL::CaptureManager::sharedCaptureManager()->isCapturing();
}

std::string numbered_trace_path(const std::string& name) {
  static std::atomic<unsigned> next = 0;
  const std::size_t slash = name.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}{:04}-{}.gputrace", name.substr(0, start), next++, name.substr(start));
}

}  // namespace pewter::runtime
