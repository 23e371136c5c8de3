#include <doctest/doctest.h>

#include <string>

#include "tests/support/process.h"

namespace {

/// What a program that allocates 48 MiB twice and once more from the cache writes about it.
std::string written(const std::string& bits) {
  const auto result = pewter::test::run_process({PEWTER_MEMORY_PROBE, "steps"},
                                                {{"PYTORCH_DEBUG_MPS_ALLOCATOR", bits}});
  REQUIRE(result.code == 0);
  return result.errors;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each bit of the allocator's log asks for lines of its own") {
  CHECK(written("0").empty());
  CHECK(written("2") ==
        "pewter[memory]: allocated 48.00 MiB\npewter[memory]: allocated 48.00 MiB\n");
  CHECK(written("4") ==
        "pewter[memory]: reused 48.00 MiB for a request of 48.00 MiB, active 48.00 MiB\n");
  CHECK(contains(written("1"), "active 96.00 MiB, driver total 96.00 MiB\n"));
}

TEST_CASE("the allocator's log takes octal and hexadecimal numbers") {
  CHECK(written("0x12") == written("18"));
  CHECK(written("022") == written("18"));
  CHECK(contains(written("loud"), "is 'loud', not a number"));
}
