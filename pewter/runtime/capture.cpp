#include "pewter/runtime/capture.h"

#include <Metal/Metal.hpp>
#include <stdexcept>

#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {

void start_capture(const std::string& path) {
  const AutoreleaseScope scope;
  MTL::Device* metal = device();
  auto* manager = MTL::CaptureManager::sharedCaptureManager();
  const auto destination = path.empty() ? MTL::CaptureDestinationDeveloperTools
                                        : MTL::CaptureDestinationGPUTraceDocument;
  if (!manager->supportsDestination(destination)) {
    throw std::runtime_error(
        path.empty() ? "[metal::start_capture] destination unsupported: no developer tools are "
                       "attached; give the path of a trace document"
                     : "[metal::start_capture] destination unsupported: this device does not "
                       "record trace documents, so '" +
                           path + "' was not written");
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
    throw std::runtime_error(std::string("[metal::start_capture] ") +
                             (reason != nullptr ? reason->utf8String() : "failed"));
  }
}

void stop_capture() {
  const AutoreleaseScope scope;
  auto* manager = MTL::CaptureManager::sharedCaptureManager();
  if (in_bad_fork() || !manager->isCapturing()) {
    return;
  }
  synchronize_all();
  manager->stopCapture();
}

}  // namespace pewter::runtime
