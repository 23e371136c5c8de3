#include "pewter/metal/driver/capture_manager.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>

#include "tests/support/log_capture.h"
#include "tests/support/text.h"

namespace {

using pewter::test::string;
using pewter::test::text;

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  MTL::CaptureManager* manager = MTL::CaptureManager::sharedCaptureManager();
};

TEST_CASE_FIXTURE(Fixture, "a capture to a document fails and says that it is not supported yet") {
  auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
  descriptor->setCaptureObject(device.get());
  descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
  descriptor->setOutputURL(NS::URL::fileURLWithPath(string("/tmp/none.gputrace")));
  NS::Error* error = nullptr;

  CHECK_FALSE(manager->supportsDestination(MTL::CaptureDestinationGPUTraceDocument));
  CHECK_FALSE(manager->startCapture(descriptor.get(), &error));

  CHECK(text(error->domain()) == "MTLCaptureErrorDomain");
  CHECK(error->code() == MTL::CaptureErrorNotSupported);
  CHECK(text(error) == "capture to a document is not supported yet");
  CHECK_FALSE(manager->isCapturing());
}

TEST_CASE_FIXTURE(Fixture, "a descriptor without an object is invalid") {
  auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
  NS::Error* error = nullptr;

  CHECK_FALSE(manager->startCapture(descriptor.get(), &error));

  CHECK(error->code() == MTL::CaptureErrorInvalidDescriptor);
}

TEST_CASE_FIXTURE(Fixture, "the older form of starting a capture says so in the log") {
  pewter::test::LogCapture log;
  manager->startCapture(device.get());
  CHECK(log.contains("capture to a document is not supported yet"));
}

TEST_CASE_FIXTURE(Fixture, "scopes have a device, a label and a place as the default") {
  auto scope = NS::TransferPtr(manager->newCaptureScope(device.get()));
  scope->setLabel(string("frame"));
  scope->beginScope();
  scope->endScope();

  manager->setDefaultCaptureScope(scope.get());

  CHECK(manager->defaultCaptureScope() == scope.get());
  CHECK(text(scope->label()) == "frame");
  CHECK(scope->device() == device.get());
  CHECK(scope->commandQueue() == nullptr);
  manager->setDefaultCaptureScope(nullptr);
}

}  // namespace
