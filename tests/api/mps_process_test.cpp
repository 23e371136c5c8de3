#include <doctest/doctest.h>
#include <pewter/processor.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"

using pewter::test::ProcessResult;
using pewter::test::run_process;

namespace {

using Environment = std::map<std::string, std::string>;

ProcessResult run(const std::string& scenario, const Environment& environment = {}) {
  return run_process({PEWTER_MPS_PROGRAM, scenario}, environment);
}

/// The facts that the program printed, by name.
std::map<std::string, std::string> facts(const ProcessResult& result) {
  CHECK_MESSAGE(result.code == 0, result.errors);
  std::map<std::string, std::string> found;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) {
      found[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
  return found;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kNeedDevice[] = {"synchronize",
                                       "current_allocated_memory",
                                       "driver_allocated_memory",
                                       "recommended_max_memory",
                                       "empty_cache",
                                       "get_rng_state",
                                       "set_rng_state",
                                       "seed",
                                       "uniform",
                                       "Event",
                                       "profiler",
                                       "capture",
                                       "compile_shader",
                                       "load_metallib",
                                       "fraction"};

}  // namespace

TEST_CASE("mps 9: a high watermark alone fails at the first allocation") {
  const auto seen = facts(run("allocate", {{"PYTORCH_MPS_HIGH_WATERMARK_RATIO", "0.7"}}));
  CHECK(seen.at("is_available") == "ok");
  CHECK(contains(seen.at("allocate"), "error: "));
  CHECK(contains(seen.at("allocate"), "low watermark"));
  CHECK(contains(seen.at("allocate"), "1.4"));
}

TEST_CASE("mps 9: both watermarks lowered work, and a ratio above 2 does not") {
  CHECK(facts(run("allocate", {{"PYTORCH_MPS_HIGH_WATERMARK_RATIO", "0.7"},
                               {"PYTORCH_MPS_LOW_WATERMARK_RATIO", "0.6"}}))
            .at("allocate") == "ok");
  CHECK(
      contains(facts(run("allocate", {{"PYTORCH_MPS_HIGH_WATERMARK_RATIO", "2.5"}})).at("allocate"),
               "error: "));
}

TEST_CASE("mps 10: above the low watermark large requests shrink the cache, small ones do not") {
  const auto pressed = facts(run("low_watermark", {{"PYTORCH_MPS_LOW_WATERMARK_RATIO", "0.0001"}}));
  CHECK(pressed.at("after small") == "same");
  CHECK(pressed.at("after large") == "less");
  const auto relaxed = facts(run("low_watermark", {{"PYTORCH_MPS_LOW_WATERMARK_RATIO", "0"}}));
  CHECK(relaxed.at("after large") == "not less");
}

TEST_CASE("mps 27: a child forked after use refuses the device and does not hang") {
  const auto start = std::chrono::steady_clock::now();
  const auto seen = facts(run("fork_after_use"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));

  CHECK(seen.at("is_in_bad_fork") == "1");
  CHECK(seen.at("manual_seed") == "ok");
  CHECK(seen.at("is_metal_capture_enabled") == "ok");
  CHECK(seen.at("device_count") == "1");
  CHECK(seen.at("is_available") == "1");
  for (const char* name : kNeedDevice) {
    CAPTURE(name);
    CHECK(contains(seen.at(name), "error: "));
    CHECK(contains(seen.at(name), "fork"));
    CHECK(contains(seen.at(name), "spawn"));
  }
  for (const char* name : {"kernel", "event", "event wait", "allocate"}) {
    CAPTURE(name);
    CHECK(contains(seen.at(name), "fork"));
  }
  CHECK(seen.at("child") == "0");
  CHECK(seen.at("parent") == "ok");
  CHECK(seen.at("parent result") == "2");
}

TEST_CASE("mps 27: a child forked before any use works") {
  const auto seen = facts(run("fork_before_use"));
  CHECK(seen.at("is_in_bad_fork") == "0");
  CHECK(seen.at("uniform") == "ok");
  CHECK(seen.at("child") == "0");
  CHECK(seen.at("parent result") == "2");
}

TEST_CASE("mps 27: asking whether there is a device counts as use") {
  CHECK(facts(run("fork_after_question")).at("is_in_bad_fork") == "1");
}

TEST_CASE("mps 27: children of a process whose threads are busy neither hang nor crash") {
  const auto seen = facts(run("fork_while_busy"));
  CHECK(seen.at("failures") == "0");
  CHECK(seen.at("parent") == "ok");
}

TEST_CASE("mps 28: without a device the seed is ignored and everything else says so") {
  const auto seen = facts(run("everything", {{"PEWTER_DEVICE", "none"}}));
  CHECK(seen.at("is_metal_capture_enabled") == "ok");
  CHECK(seen.at("device_count") == "0");
  CHECK(seen.at("is_available") == "0");
  CHECK(seen.at("is_in_bad_fork") == "0");
  CHECK(seen.at("manual_seed") == "ok");
  for (const char* name : kNeedDevice) {
    CAPTURE(name);
    CHECK(contains(seen.at(name), "error: "));
    CHECK(contains(seen.at(name), "there is no device"));
  }
  CHECK(contains(seen.at("wrong fraction"), "invalid: "));
}

TEST_CASE("random arrays are equal whatever the number of threads and lanes") {
  auto expected = facts(run("draws", {{"PEWTER_THREADS", "1"}, {"PEWTER_MODE", "scalar"}}));
  REQUIRE(expected.size() == 8);
  expected.erase("initial state");
  for (const Environment& environment :
       {Environment{{"PEWTER_THREADS", "4"}, {"PEWTER_MODE", "scalar"}},
        Environment{{"PEWTER_THREADS", "1"}, {"PEWTER_MODE", "spmd"}},
        Environment{{"PEWTER_THREADS", "3"}, {"PEWTER_MODE", "spmd"}, {"PEWTER_LANES", "8"}},
        Environment{{"PEWTER_THREADS", "2"}, {"PEWTER_MODE", "spmd"}, {"PEWTER_LANES", "16"}},
        Environment{{"PEWTER_THREADS", "2"}, {"PEWTER_MODE", "spmd"}, {"PEWTER_LANES", "64"}}}) {
    auto seen = facts(run("draws", environment));
    seen.erase("initial state");
    CHECK(seen == expected);
  }
}

TEST_CASE("mps 11: a process starts with a seed of its own") {
  CHECK(facts(run("draws")).at("initial state") != facts(run("draws")).at("initial state"));
}

TEST_CASE("shaders are compiled with fast math when the environment says so") {
  CHECK(facts(run("math")).at("fast") == "0");
  CHECK(facts(run("math", {{"PYTORCH_MPS_FAST_MATH", "0"}})).at("fast") == "0");
  const std::vector<std::string> features = pewter::processor().features;
  if (std::find(features.begin(), features.end(), "fma") == features.end()) {
    MESSAGE("not seen in fast math: the processor has no fused multiply-add");
    return;
  }
  CHECK(facts(run("math", {{"PYTORCH_MPS_FAST_MATH", "1"}})).at("fast") == "1");
}

TEST_CASE("the environment starts tracing and logs operations") {
  const ProcessResult traced = run("profile", {{"PYTORCH_MPS_TRACE_SIGNPOSTS", "0x1"},
                                               {"PYTORCH_MPS_LOG_PROFILE_INFO", "0221"}});
  CHECK(contains(facts(traced).at("record"), "full(float32[4]) (id=K"));
  // Live, with the time on the device, and again at the end of the process.
  CHECK(contains(traced.errors, "full(float32[4]) (id=K"));
  CHECK(contains(traced.errors, ", run=1) gpu="));
  CHECK(contains(traced.errors, "full(float32[4]): runs=1 mean gpu="));
}

TEST_CASE("bit masks out of range fail at the first operation") {
  const auto info = facts(run("profile", {{"PYTORCH_MPS_LOG_PROFILE_INFO", "1024"}}));
  CHECK(contains(info.at("launch"), "PYTORCH_MPS_LOG_PROFILE_INFO=1024"));
  const auto options = facts(run("profile", {{"PYTORCH_MPS_TRACE_SIGNPOSTS", "64"}}));
  CHECK(contains(options.at("launch"), "PYTORCH_MPS_TRACE_SIGNPOSTS"));
  const auto text = facts(run("profile", {{"PYTORCH_MPS_TRACE_SIGNPOSTS", "many"}}));
  CHECK(contains(text.at("launch"), "many"));
}
