#include "pewter/base/log.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "tests/support/log_capture.h"

namespace pewter {
namespace {

TEST_CASE("warnings and errors reach the sink with their area and level") {
  std::vector<std::pair<logging::Level, std::string>> seen;
  logging::set_sink([&](logging::Level level, std::string_view area, const std::string& text) {
    seen.emplace_back(level, std::string(area) + "|" + text);
  });

  logging::warning("cache", "{} of {} entries are damaged", 2, 7);
  logging::error("device", "lost");
  logging::set_sink({});

  REQUIRE(seen.size() == 2);
  CHECK(seen[0].first == logging::Level::Warning);
  CHECK(seen[0].second == "cache|2 of 7 entries are damaged");
  CHECK(seen[1].first == logging::Level::Error);
  CHECK(seen[1].second == "device|lost");
}

TEST_CASE("details are silent when PEWTER_LOG does not ask for them") {
  const test::LogCapture log;

  CHECK(!logging::wanted("no-such-area"));
  logging::detail("no-such-area", "{}", 1);

  CHECK(log.lines().empty());
}

TEST_CASE("lines from many threads arrive whole and complete") {
  const test::LogCapture log;
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([id] {
      for (int i = 0; i < 500; ++i) {
        logging::warning("threads", "thread {} line {}", id, i);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  CHECK(log.lines().size() == 2000);
  CHECK(log.contains("threads: thread 3 line 499"));
}

}  // namespace
}  // namespace pewter
