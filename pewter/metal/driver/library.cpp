#include "pewter/metal/driver/library.h"

#include <fmt/format.h>
#include <Metal/MTLDevice.hpp>
#include <filesystem>

#include "pewter/base/log.h"
#include "pewter/metal/driver/background.h"
#include "pewter/metal/driver/compile_options.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/foundation/dispatch_data.h"
#include "pewter/metal/foundation/url.h"

namespace pewter::driver {
namespace {

Ref<foundation::Array> names_of(const compiler::LibraryInfo& info) {
  auto names = make_ref<foundation::Array>();
  for (const compiler::KernelInfo& kernel : info.kernels) {
    names->items.emplace_back(make_string(kernel.name).get());
  }
  return names;
}

/// A library and its warnings, or null and why.
struct Outcome {
  Ref<Library> library;
  Ref<foundation::Error> error;
};

Outcome compile(const std::string& source, const CompileOptions& options) {
  auto wanted = options.library_options();
  if (!wanted) {
    return {nullptr, library_error(MTL::LibraryErrorUnsupported, wanted.error().message)};
  }
  auto compiled = compiler::open_library(source, *wanted);
  if (!compiled) {
    return {nullptr, compile_error(compiled.error())};
  }
  auto warnings = compile_warnings((*compiled)->info().warnings);
  auto library =
      make_ref<Library>(*compiled, static_cast<std::uint32_t>(options.max_total_threads));
  return {std::move(library), std::move(warnings)};
}

/// What the caller gave, copied because the caller may change it afterwards; the defaults for null.
Ref<CompileOptions> own_options(const MTL::CompileOptions* options,
                                const std::source_location& where) {
  auto* given = impl<CompileOptions>(options, where);
  return given != nullptr ? Ref<CompileOptions>::adopt(static_cast<CompileOptions*>(given->copy()))
                          : make_ref<CompileOptions>();
}

/// Why a file cannot be loaded, with Metal's code for it.
Ref<foundation::Error> load_error(const std::string& path, const std::string& reason) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    return library_error(MTL::LibraryErrorFileNotFound,
                         fmt::format("there is no library at '{}'", path));
  }
  return library_error(MTL::LibraryErrorUnsupported, reason);
}

Outcome load(const std::string& path) {
  auto opened = compiler::open_library_file(path);
  if (!opened) {
    return {nullptr, load_error(path, opened.error().message)};
  }
  return {make_ref<Library>(*opened, 0), nullptr};
}

MTL::Library* load_now(const std::string& path, NS::Error** error) {
  Outcome outcome = load(path);
  report(error, std::move(outcome.error));
  return handle(outcome.library.leak());
}

}  // namespace

Library::Library(std::shared_ptr<compiler::Library> compiled_library, std::uint32_t max_threads)
    : Object(kClass),
      compiled(std::move(compiled_library)),
      max_total_threads(max_threads),
      function_names(names_of(compiled->info())) {}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::Library;
using driver::get;
using driver::handle;
using driver::impl;
using driver::report;

MTL::Library* MTL::Device::newLibrary(const NS::String* source,
                                      const CompileOptions* options,
                                      NS::Error** error) {
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  auto* text = impl<driver::String>(source);
  if (text == nullptr) {
    report(error, driver::library_error(LibraryErrorCompileFailure, "there is no source text"));
    return nullptr;
  }
  auto outcome =
      driver::compile(text->text, *driver::own_options(options, std::source_location::current()));
  report(error, std::move(outcome.error));
  return handle(outcome.library.leak());
}

void MTL::Device::newLibrary(const NS::String* pSource,
                             const CompileOptions* pOptions,
                             const NewLibraryCompletionHandlerFunction& completionHandler) {
  if (impl<driver::Device>(this) == nullptr || !completionHandler) {
    return;
  }
  driver::run_in_background(
      [text = driver::text_of(pSource),
       options = driver::own_options(pOptions, std::source_location::current()),
       completionHandler] {
        const auto outcome = driver::compile(text, *options);
        completionHandler(handle(outcome.library), handle(outcome.error));
      });
}

MTL::Library* MTL::Device::newLibrary(const NS::String* filepath, NS::Error** error) {
  return impl<driver::Device>(this) != nullptr ? driver::load_now(driver::text_of(filepath), error)
                                               : nullptr;
}

MTL::Library* MTL::Device::newLibrary(const NS::URL* url, NS::Error** error) {
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  const char* path = url->fileSystemRepresentation();
  return driver::load_now(path != nullptr ? path : "", error);
}

MTL::Library* MTL::Device::newLibrary(const dispatch_data_t data, NS::Error** error) {
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  if (data == nullptr) {
    report(error, driver::library_error(LibraryErrorUnsupported, "there is no data"));
    return nullptr;
  }
  auto opened = pewter::compiler::open_library_data(pewter::foundation::bytes_of(data));
  if (!opened) {
    report(error, driver::library_error(LibraryErrorUnsupported, opened.error().message));
    return nullptr;
  }
  report(error, nullptr);
  return handle(driver::make<Body>(*opened, 0));
}

MTL::Library* MTL::Device::newDefaultLibrary() {
  pewter::foundation::PoolScope pool;
  NS::Error* error = nullptr;
  MTL::Library* library = newDefaultLibrary(NS::Bundle::mainBundle(), &error);
  if (error != nullptr) {
    pewter::logging::warning("metal", "newDefaultLibrary: {}",
                             error->localizedDescription()->utf8String());
  }
  return library;
}

MTL::Library* MTL::Device::newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error) {
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  return driver::load_now(driver::text_of(bundle->resourcePath()) + "/default.metallib", error);
}

NS::String* MTL::Library::label() const {
  return get(this, &Body::label);
}

void MTL::Library::setLabel(const NS::String* label) {
  driver::set(this, &Body::label, label);
}

MTL::Device* MTL::Library::device() const {
  return driver::device_of(impl<Body>(this));
}

NS::Array* MTL::Library::functionNames() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(self->function_names) : nullptr;
}

MTL::LibraryType MTL::Library::type() const {
  return LibraryTypeExecutable;
}

NS::String* MTL::Library::installName() const {
  return nullptr;
}
