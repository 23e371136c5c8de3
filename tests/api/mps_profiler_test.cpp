#include <doctest/doctest.h>
#include <pewter/mps.h>

#include <string>
#include <vector>

#include "tests/api/mps_support.h"

using namespace pewter;
using namespace pewter::test;
namespace profiler = pewter::mps::profiler;
using profiler::RecordKind;

namespace {

/// Runs `full` twice and returns what was logged.
std::vector<profiler::Record> log_of_two_runs() {
  profiler::clear_log();
  const array x = zeros(16);
  const mps::Kernel full = mps::compile_shader(kFull).kernel("full");
  full({x, 1.0});
  full({x, 2.0});
  mps::synchronize();
  CHECK(x.to_vector<float>() == std::vector<float>(16, 2.0F));
  return profiler::log();
}

std::size_t count(const std::vector<profiler::Record>& records, RecordKind kind) {
  std::size_t found = 0;
  for (const profiler::Record& record : records) {
    found += record.kind == kind ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("mps 15: modes are words in any case, with commas and blanks between") {
  profiler::start("INTERVAL, event");
  CHECK_THROWS_AS(profiler::start("event"), std::runtime_error);
  profiler::stop();
  profiler::stop();
  CHECK(thrown_text<std::runtime_error>([] { profiler::start("event, foo"); }).find("'foo'") !=
        std::string::npos);
  profiler::start("event");
  profiler::stop();
  profiler::start("");
  profiler::start("interval");
  profiler::stop();
}

TEST_CASE("mps 15: event mode marks each operation that completes, with its time") {
  profiler::start("event");
  const std::vector<profiler::Record> records = log_of_two_runs();
  profiler::stop();
  REQUIRE(records.size() == 2);
  CHECK(count(records, RecordKind::Event) == 2);
  CHECK(records[0].name == "full(float32[16])");
  CHECK(records[0].id.front() == 'K');
  CHECK(records[0].id == records[1].id);
  CHECK(records[0].run_count == 1);
  CHECK(records[1].run_count == 2);
  CHECK(records[0].end >= records[0].start);
  CHECK(records[1].start >= records[0].end);
  CHECK(records[1].text.find("full(float32[16]) (id=" + records[1].id + ", run=2) gpu=") == 0);
}

TEST_CASE("mps 15: interval mode emits pairs, and waiting keeps them apart") {
  profiler::start("interval", true);
  const std::vector<profiler::Record> records = log_of_two_runs();
  profiler::stop();
  REQUIRE(records.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(records[i].kind == (i % 2 == 0 ? RecordKind::IntervalBegin : RecordKind::IntervalEnd));
    CHECK(records[i].run_count == i / 2 + 1);
  }
}

TEST_CASE("mps 15: nothing is logged without tracing, in both modes both are") {
  CHECK(log_of_two_runs().empty());
  profiler::start("interval,event");
  const std::vector<profiler::Record> records = log_of_two_runs();
  profiler::stop();
  CHECK(count(records, RecordKind::IntervalBegin) == 2);
  CHECK(count(records, RecordKind::IntervalEnd) == 2);
  CHECK(count(records, RecordKind::Event) == 2);
  CHECK(log_of_two_runs().empty());
}

TEST_CASE("mps 15: a scope stops tracing, also by an exception and when it could not start") {
  const auto leave = [] {
    const profiler::Profile profile("event");
    throw std::logic_error("out");
  };
  CHECK_THROWS_AS(leave(), std::logic_error);
  profiler::start("event");
  CHECK_THROWS_AS(profiler::Profile("event"), std::runtime_error);
  profiler::start("interval");
  profiler::stop();
}

TEST_CASE("random arrays are operations too") {
  const profiler::Profile profile("event");
  profiler::clear_log();
  static_cast<void>(mps::random::uniform({8}).to_vector<float>());
  const std::vector<profiler::Record> records = profiler::log();
  REQUIRE(records.size() == 1);
  CHECK(records[0].name == "random_uniform_float32(float32[8])");
}

TEST_CASE("a capture that cannot be recorded names its file, numbered by attempt, and the reason") {
  CHECK(!profiler::is_metal_capture_enabled());
  for (const char* file : {"'0000-foo.gputrace'", "'folder/0001-foo.gputrace'"}) {
    const std::string name =
        std::string(file).find('/') != std::string::npos ? "folder/foo" : "foo";
    const std::string text =
        thrown_text<std::runtime_error>([&] { const profiler::MetalCapture capture(name); });
    CHECK(text.find("[mps::profiler] destination unsupported") != std::string::npos);
    CHECK(text.find(file) != std::string::npos);
  }
  CHECK(!profiler::is_capturing_metal());
}
