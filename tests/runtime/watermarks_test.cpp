#include "pewter/runtime/watermarks.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using pewter::runtime::read_watermarks;
using pewter::runtime::Watermarks;

namespace {

/// The watermarks of an environment with these two values; null leaves one unset.
Watermarks watermarks(const char* high, const char* low) {
  const auto set = [](const char* name, const char* value) {
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  };
  set("PYTORCH_MPS_HIGH_WATERMARK_RATIO", high);
  set("PYTORCH_MPS_LOW_WATERMARK_RATIO", low);
  const Watermarks result = read_watermarks(true);
  set("PYTORCH_MPS_HIGH_WATERMARK_RATIO", nullptr);
  set("PYTORCH_MPS_LOW_WATERMARK_RATIO", nullptr);
  return result;
}

}  // namespace

TEST_CASE("watermarks have defaults that depend on the kind of memory") {
  CHECK(watermarks(nullptr, nullptr).high == 1.7);
  CHECK(watermarks(nullptr, nullptr).low == 1.4);
  CHECK(read_watermarks(false).low == 1.0);
  CHECK(watermarks(nullptr, nullptr).fault.empty());
}

TEST_CASE("watermarks are taken from the environment, limits included") {
  CHECK(watermarks("0.7", "0.6").high == 0.7);
  CHECK(watermarks("0.7", "0.6").low == 0.6);
  for (const auto& [high, low] :
       {std::pair("2", "2"), std::pair("0", "2"), std::pair("0.5", "0"), std::pair("1.5", "1.5")}) {
    CHECK(watermarks(high, low).fault.empty());
  }
}

TEST_CASE("a high watermark below the default low one is refused with the reason") {
  CHECK(watermarks("0.7", nullptr).fault ==
        "[mps] invalid low watermark ratio 1.4: PYTORCH_MPS_LOW_WATERMARK_RATIO takes 0 to 0.7, "
        "because PYTORCH_MPS_HIGH_WATERMARK_RATIO is 0.7");
}

TEST_CASE("ratios out of range and texts that are no numbers are refused") {
  CHECK(watermarks("2.1", "1").fault ==
        "[mps] invalid high watermark ratio 2.1: PYTORCH_MPS_HIGH_WATERMARK_RATIO takes 0 to 2");
  for (const char* high : {"-0.1", "nan", "much", "1x"}) {
    CHECK(!watermarks(high, "0").fault.empty());
  }
  for (const char* low : {"-1", "1.8", "nan", "little"}) {
    CHECK(!watermarks(nullptr, low).fault.empty());
  }
}
