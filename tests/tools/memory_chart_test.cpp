#include "tools/memory_chart.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using pewter::MemorySample;
using pewter::tools::memory_chart;
using pewter::tools::memory_json;
using pewter::tools::memory_summary;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

MemorySample sample(std::uint64_t milliseconds,
                    std::uint64_t active,
                    std::uint64_t cached,
                    std::uint64_t total) {
  MemorySample result;
  result.milliseconds = milliseconds;
  result.active = active * kMiB;
  result.cached = cached * kMiB;
  result.driver_total = total * kMiB;
  return result;
}

}  // namespace

TEST_CASE("a chart stacks active, cached and other memory over time") {
  const std::vector<MemorySample> samples = {sample(0, 0, 0, 0), sample(250, 1, 0, 1),
                                             sample(500, 2, 1, 4), sample(1000, 0, 3, 4)};
  CHECK(memory_chart(samples, 4, 4) ==
        "     4 MiB │  ░░\n"
        "           │  ▒▒\n"
        "           │  █▒\n"
        "           │ ██▒\n"
        "         0 └────\n"
        "            0 s1.00 s\n"
        "            █ active  ▒ cached  ░ other of the device\n");
}

TEST_CASE("a stretch of time without samples repeats the one before") {
  const std::string chart = memory_chart({sample(0, 1, 0, 1), sample(100, 0, 0, 0)}, 5, 1);
  CHECK(chart.substr(0, chart.find('\n')) == "     1 MiB │████ ");
}

TEST_CASE("no samples make no chart") {
  CHECK(memory_chart({}, 10, 10).empty());
}

TEST_CASE("the summary has the largest values and the exact peak") {
  MemorySample first = sample(0, 5, 1, 9);
  first.peak = 7 * kMiB;
  first.cache_hits = 3;
  first.cache_misses = 1;
  const std::string text = memory_summary({first, sample(1, 2, 4, 6)});
  CHECK(text ==
        "peak active     7 MiB\nmost cached     4 MiB\nmost of device  9 MiB\n"
        "most resident   0 bytes\nrequests        4, 3 from the cache\n");
}

TEST_CASE("samples as JSON have every number") {
  const auto list = nlohmann::json::parse(memory_json({sample(12, 3, 4, 8)}));
  REQUIRE(list.size() == 1);
  CHECK(list[0]["milliseconds"] == 12);
  CHECK(list[0]["active"] == 3 * kMiB);
  CHECK(list[0]["cached"] == 4 * kMiB);
  CHECK(list[0]["driver_total"] == 8 * kMiB);
}
