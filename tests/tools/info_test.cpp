#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/tool.h"

namespace pewter::test {
namespace {

TEST_CASE("info shows versions, device, limits, processor and cache") {
  const auto result = pewter_command({"info"});

  CHECK(result.code == 0);
  CHECK(result.errors.empty());
  for (const char* word :
       {"pewter", "llvm", "device", "1024 x 1024 x 1024 threads, 32 KiB", "buffer limit",
        "processor", "kernel threads", "cache size", "Metal 4.0"}) {
    CAPTURE(word);
    CHECK(contains(result.output, word));
  }
}

TEST_CASE("info as JSON has the same facts for programs") {
  const auto result = pewter_command({"info", "--json"}, {{"PEWTER_THREADS", "3"}});
  const auto facts = nlohmann::json::parse(result.output);

  CHECK(result.code == 0);
  CHECK(facts["device"]["max_threadgroup_memory"] == 32768);
  CHECK(facts["device"]["max_threads_per_threadgroup"][0] == 1024);
  CHECK(facts["device"]["max_buffer_length"].get<std::uint64_t>() > 0);
  CHECK(facts["processor"]["threads"] == 3);
  CHECK(facts["version"]["llvm"].get<std::string>().starts_with("19."));
  CHECK(facts["cache"]["directory"].is_string());
}

TEST_CASE("a profile changes what the device claims to be") {
  const auto virtual_device = pewter_command({"info"}, {{"PEWTER_PROFILE", "paravirtual"}});
  const auto newest = nlohmann::json::parse(
      pewter_command({"info", "--json"}, {{"PEWTER_PROFILE", "apple9"}}).output);
  const auto wrong = pewter_command({"info"}, {{"PEWTER_PROFILE", "apple99"}});

  CHECK(contains(virtual_device.output, "Apple Paravirtual device"));
  CHECK(!contains(virtual_device.output, "Metal3"));
  CHECK(newest["device"]["name"] == "Apple M3");
  CHECK(wrong.code == 0);
  CHECK(contains(wrong.errors, "PEWTER_PROFILE=apple99 is none of pewter, apple5"));
}

TEST_CASE("info says so when there is no device") {
  const auto text = pewter_command({"info"}, {{"PEWTER_DEVICE", "none"}});
  const auto json = pewter_command({"info", "--json"}, {{"PEWTER_DEVICE", "none"}});

  CHECK(text.code == 0);
  CHECK(contains(text.output, "none (PEWTER_DEVICE=none)"));
  CHECK(nlohmann::json::parse(json.output)["device"].is_null());
}

}  // namespace
}  // namespace pewter::test
