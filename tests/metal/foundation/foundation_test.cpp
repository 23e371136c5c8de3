#include <doctest/doctest.h>

#include <Foundation/Foundation.hpp>
#include <filesystem>
#include <string>

#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

namespace {

using pewter::test::string;
using pewter::test::text;

struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

TEST_CASE_FIXTURE(Pool, "an error has its domain, code and text") {
  auto* info = NS::Dictionary::dictionary(string("no kernel"), NS::LocalizedDescriptionKey);

  auto* error = NS::Error::error(string("domain"), 7, info);

  CHECK(text(error->domain()) == "domain");
  CHECK(error->code() == 7);
  CHECK(text(error->localizedDescription()) == "no kernel");
  CHECK(error->userInfo()->isEqual(info));
  CHECK(error->localizedFailureReason() == nullptr);
}

TEST_CASE_FIXTURE(Pool, "an error without a text describes itself by domain and code") {
  auto* error = NS::Error::error(NS::POSIXErrorDomain, 2, nullptr);

  CHECK(text(error->localizedDescription()) ==
        "the operation couldn't be completed (NSPOSIXErrorDomain error 2)");
}

TEST_CASE_FIXTURE(Pool, "a file URL keeps an absolute path") {
  CHECK(std::string(NS::URL::fileURLWithPath(string("/a/b c"))->fileSystemRepresentation()) ==
        "/a/b c");
  CHECK(std::string(NS::URL::fileURLWithPath(string("x"))->fileSystemRepresentation()) ==
        (std::filesystem::current_path() / "x").string());
  auto url = NS::TransferPtr(NS::URL::alloc()->init(string("file:///a/b%20c")));
  CHECK(std::string(url->fileSystemRepresentation()) == "/a/b c");
}

TEST_CASE_FIXTURE(Pool, "another address has no path") {
  auto url = NS::TransferPtr(NS::URL::alloc()->init(string("https://example.org/a")));
  CHECK(url->fileSystemRepresentation() == nullptr);
  CHECK(text(url->description()) == "https://example.org/a");
}

TEST_CASE_FIXTURE(Pool, "the main bundle is the folder of the executable") {
  const auto executable = std::filesystem::read_symlink("/proc/self/exe");

  auto* bundle = NS::Bundle::mainBundle();

  CHECK(text(bundle->executablePath()) == executable.string());
  CHECK(text(bundle->resourcePath()) == executable.parent_path().string());
  CHECK(bundle->bundleIdentifier() == nullptr);
  CHECK(NS::Bundle::allBundles()->object<NS::Bundle>(0) == bundle);
}

TEST_CASE_FIXTURE(Pool, "a bundle is any folder that exists") {
  pewter::test::TemporaryDirectory directory;
  const std::string tool = directory.write("tool", "");

  auto* bundle = NS::Bundle::bundle(string(directory.path().string()));

  CHECK(text(bundle->bundlePath()) == directory.path().string());
  CHECK(text(bundle->pathForAuxiliaryExecutable(string("tool"))) == tool);
  CHECK(bundle->pathForAuxiliaryExecutable(string("none")) == nullptr);
  CHECK(NS::Bundle::bundle(string("/no/such/folder")) == nullptr);
}

TEST_CASE_FIXTURE(Pool, "the process knows its machine and the release of Metal that it offers") {
  auto* process = NS::ProcessInfo::processInfo();

  CHECK(process->processorCount() >= 1);
  CHECK(process->physicalMemory() > 1 << 20);
  CHECK(process->arguments()->count() >= 1);
  CHECK(text(process->processName()) == "foundation_test");
  CHECK(process->isOperatingSystemAtLeastVersion({15, 0, 0}));
  CHECK_FALSE(process->isOperatingSystemAtLeastVersion({26, 0, 0}));
}

TEST_CASE("a question for a release of macOS is answered by the compiler") {
  static_assert(__builtin_available(macOS 15, iOS 18, *));
  static_assert(__builtin_available(macOS 14.6, *));
  static_assert(__builtin_available(iOS 99, *));
  static_assert(!__builtin_available(macOS 15.1, *));
  static_assert(!__builtin_available(macOS 26.2, iOS 26.2, *));
}

}  // namespace
