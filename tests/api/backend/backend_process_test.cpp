#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>

#include "tests/support/process.h"

namespace {

using Facts = std::map<std::string, std::string>;

/// What the program printed, by name.
Facts facts(const std::string& scenario, const std::map<std::string, std::string>& environment) {
  const auto result = pewter::test::run_process({PEWTER_BACKEND_PROGRAM, scenario}, environment);
  CHECK_MESSAGE(result.code == 0, result.errors);
  Facts found;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    found[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return found;
}

bool is_metal_error(const std::string& outcome) {
  return outcome.starts_with("MetalError: ");
}

/// Checks the column of a backend that has no device.
void check_unavailable(const Facts& seen) {
  CHECK(seen.at("type") == "2");
  CHECK(seen.at("available") == "0");
  CHECK(seen.at("devices") == "0");
  CHECK(seen.at("repr") == "MetalBackend(available=False)");
  CHECK(seen.at("memory") == "0 0 0 0");
  for (const char* name : {"allocate", "allocate_zeros", "copy_to_device", "copy_to_host",
                           "copy_of_host", "compile_kernel", "compile_msl", "execute error"}) {
    CAPTURE(name);
    CHECK(is_metal_error(seen.at(name)));
  }
  for (const char* name : {"free", "synchronize", "clear_cache"}) {
    CAPTURE(name);
    CHECK(seen.at(name) == "ok");
  }
  CHECK(seen.at("execute") == "0 0 0");
  CHECK(seen.at("ready-made") == "0 0 0");
}

}  // namespace

TEST_CASE("backend 1: without a device what needs one says so and the rest does nothing") {
  const Facts seen = facts("everything", {{"PEWTER_DEVICE", "none"}});
  check_unavailable(seen);
  CHECK(seen.at("id") == "2");
  CHECK(seen.at("allocate").find("there is no device") != std::string::npos);
}

TEST_CASE("backend 26: without a device buffers work on the host") {
  const Facts seen = facts("buffers", {{"PEWTER_DEVICE", "none"}});
  CHECK(seen.at("unallocated metal").starts_with("BufferNotAllocatedError: "));
  CHECK(is_metal_error(seen.at("metal")));
  CHECK(seen.at("state") == "host_dirty");
  CHECK(seen.at("synchronized") == "host_dirty");
  CHECK(is_metal_error(seen.at("sync_to_device")));
  CHECK(seen.at("host side") == "ok");
}

TEST_CASE("backend 29: in a forked child backends are not available and nothing hangs") {
  const Facts seen = facts("forked", {});
  CHECK(seen.at("new available") == "0");
  check_unavailable(seen);
  CHECK(seen.at("allocate").find("fork") != std::string::npos);
  CHECK(seen.at("child") == "0");
  CHECK(seen.at("parent") == "1");
}
