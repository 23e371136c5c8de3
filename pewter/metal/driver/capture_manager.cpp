#include "pewter/metal/driver/capture_manager.h"

#include <Metal/MTLCommandQueue.hpp>

#include "pewter/base/log.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/ns_error.h"

namespace pewter::driver {
namespace {

constexpr const char* kUnsupported = "capture to a document is not supported yet";

CaptureManager& shared_manager() {
  static CaptureManager& manager = []() -> CaptureManager& {
    auto* body = make<CaptureManager>();
    body->make_immortal();
    return *body;
  }();
  return manager;
}

void refuse(const MTL::CaptureManager* manager) {
  if (impl<CaptureManager>(manager) != nullptr) {
    logging::warning("metal", "startCapture: {}", kUnsupported);
  }
}

}  // namespace
}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::CaptureManager;
using Descriptor = driver::CaptureDescriptor;
using driver::get;
using driver::handle;
using driver::impl;

MTL::CaptureDescriptor* MTL::CaptureDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::CaptureDescriptor* MTL::CaptureDescriptor::init() {
  return this;
}

NS::Object* MTL::CaptureDescriptor::captureObject() const {
  return get(this, &Descriptor::object);
}

void MTL::CaptureDescriptor::setCaptureObject(NS::Object* captureObject) {
  driver::set(this, &Descriptor::object, captureObject);
}

MTL::CaptureDestination MTL::CaptureDescriptor::destination() const {
  return get(this, &Descriptor::destination);
}

void MTL::CaptureDescriptor::setDestination(MTL::CaptureDestination destination) {
  driver::set(this, &Descriptor::destination, destination);
}

NS::URL* MTL::CaptureDescriptor::outputURL() const {
  return get(this, &Descriptor::output);
}

void MTL::CaptureDescriptor::setOutputURL(const NS::URL* outputURL) {
  driver::set(this, &Descriptor::output, outputURL);
}

MTL::CaptureManager* MTL::CaptureManager::alloc() {
  return sharedCaptureManager();
}

MTL::CaptureManager* MTL::CaptureManager::sharedCaptureManager() {
  return handle(&driver::shared_manager());
}

MTL::CaptureManager* MTL::CaptureManager::init() {
  return this;
}

MTL::CaptureScope* MTL::CaptureManager::newCaptureScope(const Device* device) {
  if (impl<Body>(this) == nullptr || impl<driver::Device>(device) == nullptr) {
    return nullptr;
  }
  return handle(driver::make<driver::CaptureScope>(nullptr));
}

MTL::CaptureScope* MTL::CaptureManager::newCaptureScope(const CommandQueue* commandQueue) {
  auto* queue = impl<driver::Object>(commandQueue);
  if (impl<Body>(this) == nullptr || queue == nullptr) {
    return nullptr;
  }
  return handle(driver::make<driver::CaptureScope>(queue));
}

bool MTL::CaptureManager::supportsDestination(MTL::CaptureDestination) {
  return false;
}

bool MTL::CaptureManager::startCapture(const CaptureDescriptor* descriptor, NS::Error** error) {
  if (impl<Body>(this) == nullptr) {
    return false;
  }
  auto* wanted = impl<Descriptor>(descriptor);
  if (wanted == nullptr || !wanted->object) {
    driver::report(error, driver::capture_error(CaptureErrorInvalidDescriptor,
                                                "the descriptor has no object to capture"));
  } else {
    driver::report(error, driver::capture_error(CaptureErrorNotSupported, driver::kUnsupported));
  }
  return false;
}

void MTL::CaptureManager::startCapture(const Device*) {
  driver::refuse(this);
}

void MTL::CaptureManager::startCapture(const CommandQueue*) {
  driver::refuse(this);
}

void MTL::CaptureManager::startCapture(const CaptureScope*) {
  driver::refuse(this);
}

void MTL::CaptureManager::stopCapture() {
  impl<Body>(this);
}

MTL::CaptureScope* MTL::CaptureManager::defaultCaptureScope() const {
  return get(this, &Body::default_scope);
}

void MTL::CaptureManager::setDefaultCaptureScope(const CaptureScope* defaultCaptureScope) {
  driver::set(this, &Body::default_scope, defaultCaptureScope);
}

bool MTL::CaptureManager::isCapturing() const {
  return false;
}
