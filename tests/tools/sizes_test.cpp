#include "tools/sizes.h"

#include <doctest/doctest.h>

#include "tools/failure.h"

namespace pewter::tools {
namespace {

using Shape = std::vector<std::uint64_t>;

TEST_CASE("counts take binary suffixes in either case") {
  CHECK(parse_count("0", "size") == 0);
  CHECK(parse_count("256", "size") == 256);
  CHECK(parse_count("4K", "size") == 4096);
  CHECK(parse_count("1m", "size") == 1048576);
  CHECK(parse_count("2G", "size") == 2147483648U);
}

TEST_CASE("what is no count is refused by name") {
  for (const char* text : {"", "K", "1.5M", "-1", "1KB", "12 ", "0x10", "1M1"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_count(text, "--grid"), doctest::Contains("--grid"), UsageError);
  }
}

TEST_CASE("counts beyond 64 bits are refused") {
  CHECK_THROWS_WITH_AS(parse_count("18446744073709551616", "size"),
                       "size '18446744073709551616' is too large", UsageError);
  CHECK_THROWS_WITH_AS(parse_count("18446744073709551615G", "size"),
                       "size '18446744073709551615G' is too large", UsageError);
}

TEST_CASE("shapes are counts joined by x") {
  CHECK(parse_shape("1M", "grid", 3) == Shape{1048576});
  CHECK(parse_shape("640x480", "grid", 3) == Shape{640, 480});
  CHECK(parse_shape("1Kx2x3", "grid", 3) == Shape{1024, 2, 3});
}

TEST_CASE("shapes with empty, zero or too many dimensions are refused") {
  CHECK_THROWS_AS(parse_shape("640x", "grid", 3), UsageError);
  CHECK_THROWS_AS(parse_shape("x480", "grid", 3), UsageError);
  CHECK_THROWS_WITH_AS(parse_shape("4x0", "grid", 3), "grid '4x0' has a dimension of 0",
                       UsageError);
  CHECK_THROWS_WITH_AS(parse_shape("1x1x1x1", "grid", 3),
                       "grid '1x1x1x1' has 4 dimensions, at most 3 are possible", UsageError);
}

TEST_CASE("a shape whose product does not fit is refused") {
  CHECK_THROWS_AS(parse_shape("8Gx8G", "grid", 3), UsageError);
}

TEST_CASE("bytes are written for people") {
  CHECK(format_bytes(0) == "0 bytes");
  CHECK(format_bytes(1023) == "1023 bytes");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(1ULL << 30) == "1 GiB");
}

}  // namespace
}  // namespace pewter::tools
