#include "pewter/metal/driver/library.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>
#include <future>
#include <string>

#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

namespace {

using pewter::test::first_line;
using pewter::test::string;
using pewter::test::text;

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error* error = nullptr;

  NS::SharedPtr<MTL::Library> library(const std::string& source,
                                      const MTL::CompileOptions* options = nullptr) {
    return NS::TransferPtr(device->newLibrary(string(source), options, &error));
  }
};

constexpr const char* kTwoKernels =
    "kernel void second(device int* x [[buffer(0)]]) { x[0] = VALUE; }\n"
    "kernel void first(device int* x [[buffer(0)]]) { x[0] = 1; }\n";

NS::SharedPtr<MTL::CompileOptions> options_with_macro(const NS::Object* value,
                                                      const char* name = "VALUE") {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setPreprocessorMacros(NS::Dictionary::dictionary(value, string(name)));
  return options;
}

TEST_CASE_FIXTURE(Fixture, "a library lists its kernels and belongs to the device") {
  auto found = library(kTwoKernels, options_with_macro(string("2")).get());

  REQUIRE_MESSAGE(found, text(error));
  CHECK(found->functionNames()->count() == 2);
  CHECK(text(found->functionNames()->object<NS::String>(0)) == "second");
  CHECK(found->device() == device.get());
  CHECK(found->type() == MTL::LibraryTypeExecutable);
  CHECK(error == nullptr);
  found->setLabel(string("label"));
  CHECK(text(found->label()) == "label");
}

TEST_CASE_FIXTURE(Fixture, "macros are strings or numbers") {
  CHECK(library(kTwoKernels, options_with_macro(string("1 + 2")).get()));
  CHECK(library(kTwoKernels, options_with_macro(NS::Number::number(7)).get()));
}

TEST_CASE_FIXTURE(Fixture, "macros of another kind are refused by name") {
  CHECK_FALSE(library(kTwoKernels, options_with_macro(NS::Array::array()).get()));
  CHECK(text(error) ==
        "preprocessor macro 'VALUE' has a NS::Array for a value; a string or a number is needed");

  CHECK_FALSE(library(kTwoKernels, options_with_macro(string("1"), "not a name").get()));
  CHECK(text(error) == "preprocessor macro 'not a name' is not an identifier");
}

TEST_CASE_FIXTURE(Fixture, "a source that does not compile gives Metal's domain and code") {
  CHECK_FALSE(library("kernel void f(device flaot* x) {}"));

  CHECK(text(error->domain()) == "MTLLibraryErrorDomain");
  CHECK(error->code() == MTL::LibraryErrorCompileFailure);
  CHECK(first_line(error) == "program_source:1:22: error: unknown type name 'flaot'");
}

TEST_CASE_FIXTURE(Fixture, "no source text is an error") {
  CHECK(device->newLibrary(static_cast<NS::String*>(nullptr), nullptr, &error) == nullptr);
  CHECK(text(error) == "there is no source text");
}

TEST_CASE_FIXTURE(Fixture, "a place for the error is not needed") {
  CHECK(device->newLibrary(string("syntax error"), nullptr, static_cast<NS::Error**>(nullptr)) ==
        nullptr);
}

TEST_CASE_FIXTURE(Fixture, "dynamic libraries are refused by name") {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setLibraryType(MTL::LibraryTypeDynamic);

  CHECK_FALSE(library("", options.get()));

  CHECK(error->code() == MTL::LibraryErrorUnsupported);
  CHECK(text(error) == "dynamic libraries are not supported yet");
}

TEST_CASE_FIXTURE(Fixture, "a compiled library that is not there is said to be missing") {
  CHECK(device->newLibrary(string("/no/such.metallib"), &error) == nullptr);
  CHECK(error->code() == MTL::LibraryErrorFileNotFound);
  CHECK(text(error) == "there is no library at '/no/such.metallib'");

  CHECK(device->newDefaultLibrary(NS::Bundle::mainBundle(), &error) == nullptr);
  CHECK(error->code() == MTL::LibraryErrorFileNotFound);
}

TEST_CASE_FIXTURE(Fixture, "a library of Apple's is refused by name") {
  pewter::test::TemporaryDirectory directory;
  const std::string path = directory.write("kernels.metallib", "MTLB");

  CHECK(device->newLibrary(NS::URL::fileURLWithPath(string(path)), &error) == nullptr);

  CHECK(error->code() == MTL::LibraryErrorUnsupported);
  CHECK(text(error) == "'" + path +
                           "' is a library made by Apple's compiler, for Apple's devices; compile "
                           "its source with 'pewter metal'");
}

TEST_CASE_FIXTURE(Fixture, "a library can be compiled in the background") {
  std::promise<std::string> names;
  device->newLibrary(
      string("kernel void f() {}"), nullptr, [&](MTL::Library* found, NS::Error* failure) {
        names.set_value(found != nullptr ? text(found->functionNames()->object<NS::String>(0))
                                         : text(failure));
      });
  CHECK(names.get_future().get() == "f");
}

TEST_CASE_FIXTURE(Fixture, "a failure in the background reaches the handler") {
  std::promise<std::string> line;
  device->newLibrary(string("kernel void f(device flaot* x) {}"), nullptr,
                     [&](MTL::Library* found, NS::Error* failure) {
                       line.set_value(found == nullptr ? first_line(failure) : "compiled");
                     });
  CHECK(line.get_future().get() == "program_source:1:22: error: unknown type name 'flaot'");
}

}  // namespace
