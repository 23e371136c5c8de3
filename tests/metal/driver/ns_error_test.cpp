#include "pewter/metal/driver/ns_error.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>

#include "tests/support/text.h"

namespace pewter::driver {
namespace {

using foundation::handle;
using test::text;

struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

compiler::Diagnostic diagnostic(compiler::Severity severity, const std::string& rendered) {
  compiler::Diagnostic made;
  made.severity = severity;
  made.rendered = rendered;
  return made;
}

TEST_CASE_FIXTURE(Pool, "each part of Metal has its domain") {
  const auto library = library_error(MTL::LibraryErrorInternal, "a");
  const auto buffer = command_buffer_error(MTL::CommandBufferErrorPageFault, "b");

  CHECK(text(handle(library)->domain()) == "MTLLibraryErrorDomain");
  CHECK(handle(library)->code() == 2);
  CHECK(handle(buffer)->domain() == MTL::CommandBufferErrorDomain);
  CHECK(text(handle(buffer)->domain()) == "MTLCommandBufferErrorDomain");
  CHECK(handle(buffer)->code() == 3);
  CHECK(text(handle(buffer)) == "b");
}

TEST_CASE_FIXTURE(Pool, "a failed compilation keeps every diagnostic") {
  const auto error = compile_error({{diagnostic(compiler::Severity::Error, "first\n"),
                                     diagnostic(compiler::Severity::Error, "second\n")}});

  CHECK(handle(error)->code() == MTL::LibraryErrorCompileFailure);
  CHECK(text(handle(error)).find("first") != std::string::npos);
  CHECK(text(handle(error)).find("second") != std::string::npos);
}

TEST_CASE_FIXTURE(Pool, "warnings have a code of their own, and none are no error") {
  const auto error = compile_warnings({diagnostic(compiler::Severity::Warning, "careful\n")});

  CHECK(handle(error)->code() == MTL::LibraryErrorCompileWarning);
  CHECK(text(handle(error)).find("careful") != std::string::npos);
  CHECK_FALSE(compile_warnings({}));
}

TEST_CASE_FIXTURE(Pool, "a reported error lives in the pool, and success clears the place") {
  NS::Error* place = nullptr;

  report(&place, library_error(MTL::LibraryErrorInternal, "text"));
  CHECK(text(place) == "text");
  CHECK(place->retainCount() == 1);
  report(&place, nullptr);
  CHECK(place == nullptr);
  report(nullptr, library_error(MTL::LibraryErrorInternal, "nobody asked"));
}

}  // namespace
}  // namespace pewter::driver
