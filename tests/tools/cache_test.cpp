#include <doctest/doctest.h>

#include "tests/support/temporary_directory.h"
#include "tests/tools/tool.h"

namespace pewter::test {
namespace {

constexpr const char* kSource = "kernel void f(device int* x) { x[0] = 7; }";

/// A cache of its own for one test.
struct OwnCache {
  TemporaryDirectory directory;
  std::map<std::string, std::string> environment = {{"XDG_CACHE_HOME", directory.path().string()}};

  void fill() const {
    const std::string file = directory.write("f.metal", kSource);
    const auto result =
        pewter_command({"run", file, "--grid", "1", "--buffer", "x=zeros:i32:1"}, environment);
    REQUIRE_MESSAGE(result.code == 0, result.errors);
  }
};

TEST_CASE("a cache that was never used is empty") {
  const OwnCache cache;
  const auto result = pewter_command({"cache"}, cache.environment);

  CHECK(result.code == 0);
  CHECK(contains(result.output, cache.directory.path().string()));
  CHECK(contains(result.output, "entries    0\n"));
}

TEST_CASE("running a kernel fills the cache and clearing empties it") {
  const OwnCache cache;
  cache.fill();
  const auto filled = pewter_command({"cache"}, cache.environment);
  const auto cleared = pewter_command({"cache", "--clear"}, cache.environment);
  const auto after = pewter_command({"cache"}, cache.environment);

  CHECK(!contains(filled.output, "entries    0\n"));
  CHECK(cleared.code == 0);
  CHECK(contains(cleared.output, "freed "));
  CHECK(!contains(cleared.output, "freed 0 bytes"));
  CHECK(contains(after.output, "entries    0\n"));
}

TEST_CASE("clearing a cache that does not exist frees nothing") {
  const OwnCache cache;
  const auto result = pewter_command({"cache", "--clear"}, cache.environment);

  CHECK(result.code == 0);
  CHECK(result.output == "freed 0 bytes\n");
}

}  // namespace
}  // namespace pewter::test
