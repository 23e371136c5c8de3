#include "pewter/metal/driver/binary_archive.h"

#include <Metal/MTLDevice.hpp>

#include "pewter/metal/driver/compute_pipeline.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/function_descriptor.h"
#include "pewter/metal/driver/library.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/driver/pipeline_descriptor.h"

namespace driver = pewter::driver;
using Body = driver::BinaryArchive;
using Descriptor = driver::BinaryArchiveDescriptor;
using driver::binary_archive_error;
using driver::get;
using driver::handle;
using driver::impl;

namespace {

std::string path_of(const NS::URL* url) {
  const char* path = url != nullptr ? url->fileSystemRepresentation() : nullptr;
  return path != nullptr ? path : "";
}

bool add(const Body& archive,
         const driver::ComputePipelineDescriptor& descriptor,
         NS::Error** error) {
  auto outcome = driver::build_pipeline(descriptor, MTL::PipelineOptionNone, {}, archive.code);
  if (outcome.error) {
    driver::report(error, binary_archive_error(MTL::BinaryArchiveErrorCompilationFailure,
                                               outcome.error->localized_description->text));
    return false;
  }
  driver::report(error, nullptr);
  return true;
}

}  // namespace

MTL::BinaryArchiveDescriptor* MTL::BinaryArchiveDescriptor::alloc() {
  return handle(driver::make<Descriptor>());
}

MTL::BinaryArchiveDescriptor* MTL::BinaryArchiveDescriptor::init() {
  return this;
}

NS::URL* MTL::BinaryArchiveDescriptor::url() const {
  return get(this, &Descriptor::url);
}

void MTL::BinaryArchiveDescriptor::setUrl(const NS::URL* url) {
  driver::set(this, &Descriptor::url, url);
}

MTL::BinaryArchive* MTL::Device::newBinaryArchive(const BinaryArchiveDescriptor* descriptor,
                                                  NS::Error** error) {
  auto* wanted = impl<Descriptor>(descriptor);
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  if (wanted == nullptr || !wanted->url) {
    driver::report(error, nullptr);
    return handle(driver::make<Body>(pewter::compiler::new_archive()));
  }
  auto opened = pewter::compiler::open_archive(path_of(handle(wanted->url)));
  if (!opened) {
    driver::report(error,
                   binary_archive_error(BinaryArchiveErrorInvalidFile, opened.error().message));
    return nullptr;
  }
  driver::report(error, nullptr);
  return handle(driver::make<Body>(*opened));
}

NS::String* MTL::BinaryArchive::label() const {
  return get(this, &Body::label);
}

void MTL::BinaryArchive::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}

MTL::Device* MTL::BinaryArchive::device() const {
  return driver::device_of(impl<Body>(this));
}

bool MTL::BinaryArchive::addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor,
                                                     NS::Error** error) {
  auto* self = impl<Body>(this);
  auto* wanted = impl<driver::ComputePipelineDescriptor>(descriptor);
  if (self == nullptr) {
    return false;
  }
  if (wanted == nullptr) {
    driver::report(error, binary_archive_error(BinaryArchiveErrorUnexpectedElement,
                                               "there is no pipeline descriptor"));
    return false;
  }
  return add(*self, *wanted, error);
}

bool MTL::BinaryArchive::addFunction(const FunctionDescriptor* descriptor,
                                     const Library* library,
                                     NS::Error** error) {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return false;
  }
  if (impl<driver::Library>(library) == nullptr ||
      impl<driver::FunctionDescriptor>(descriptor) == nullptr) {
    driver::report(error, binary_archive_error(BinaryArchiveErrorUnexpectedElement,
                                               "there is no function descriptor or no library"));
    return false;
  }
  auto function = NS::TransferPtr(const_cast<Library*>(library)->newFunction(descriptor, error));
  if (!function) {
    return false;
  }
  auto pipeline = driver::make_ref<driver::ComputePipelineDescriptor>();
  pipeline->function = driver::Ref<driver::Function>(impl<driver::Function>(function.get()));
  return add(*self, *pipeline, error);
}

bool MTL::BinaryArchive::serializeToURL(const NS::URL* url, NS::Error** error) {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return false;
  }
  auto written = self->code->write(path_of(url));
  driver::report(error, written ? nullptr
                                : binary_archive_error(BinaryArchiveErrorInternalError,
                                                       written.error().message));
  return static_cast<bool>(written);
}
