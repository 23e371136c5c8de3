#include <doctest/doctest.h>

#include "tests/tools/tool.h"

namespace pewter::test {
namespace {

TEST_CASE("help shows every sub-command and an example") {
  const auto result = pewter_command({"--help"});

  CHECK(result.code == 0);
  for (const char* word : {"info", "run", "cache", "Examples:", "Exit codes"}) {
    CHECK(contains(result.output, word));
  }
}

TEST_CASE("each sub-command has help with examples") {
  for (const char* command : {"info", "run", "cache", "mem", "metal", "metallib", "metal-ar",
                              "metal-nm", "metal-objdump", "xcrun"}) {
    const auto result = pewter_command({command, "--help"});
    CAPTURE(command);
    CHECK(result.code == 0);
    CHECK(contains(result.output, std::string("Examples:\n  pewter ") + command));
  }
}

TEST_CASE("xcrun hands the question for help on") {
  CHECK(contains(pewter_command({"xcrun", "metal", "--help"}).output, "Usage: pewter metal "));
}

TEST_CASE("the version is printed") {
  const auto result = pewter_command({"--version"});

  CHECK(result.code == 0);
  CHECK(result.output.find_first_not_of("0123456789.\n") == std::string::npos);
}

TEST_CASE("no sub-command is bad usage") {
  const auto result = pewter_command({});

  CHECK(result.code == 2);
  CHECK(contains(result.errors, "see 'pewter --help'"));
  CHECK(result.output.empty());
}

TEST_CASE("a misspelt sub-command is bad usage with a suggestion") {
  const auto result = pewter_command({"inof"});

  CHECK(result.code == 2);
  CHECK(contains(result.errors, "did you mean 'info'?"));
}

TEST_CASE("a misspelt flag is bad usage with a suggestion") {
  const auto result = pewter_command({"run", "a.metal", "--grid", "1", "--bufer", "a=zeros:f32:1"});

  CHECK(result.code == 2);
  CHECK(contains(result.errors, "did you mean '--buffer'?"));
  CHECK(contains(result.errors, "see 'pewter run --help'"));
}

}  // namespace
}  // namespace pewter::test
