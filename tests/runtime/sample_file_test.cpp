#include "pewter/runtime/sample_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

using pewter::runtime::default_sample_path;
using pewter::runtime::read_sample;
using pewter::test::run_process;
using pewter::test::TemporaryDirectory;

TEST_CASE("a process that reports leaves its last sample in the file it was given") {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "memory").string();
  const auto result = run_process({PEWTER_MEMORY_PROBE, "steps"}, {{"PEWTER_STATS", path}});
  REQUIRE(result.code == 0);

  const auto sample = read_sample(path);
  REQUIRE(sample);
  CHECK(sample->peak == 96 << 20);
  CHECK(sample->active == 0);
  CHECK(sample->cached == 96 << 20);
  CHECK(sample->driver_total >= sample->cached);
  CHECK(sample->resident > 0);
  CHECK(sample->cache_hits == 1);
  CHECK(sample->cache_misses == 2);
}

TEST_CASE("a process reports nothing unless asked, and warns when it cannot") {
  const TemporaryDirectory directory;
  CHECK(!read_sample(default_sample_path(getpid())));
  const auto result = run_process({PEWTER_MEMORY_PROBE, "steps"},
                                  {{"PEWTER_STATS", directory.path().string() + "/none/file"}});
  CHECK(result.code == 0);
  CHECK(result.errors.find("PEWTER_STATS") != std::string::npos);
}

TEST_CASE("a file of something else is no sample") {
  const TemporaryDirectory directory;
  CHECK(!read_sample(directory.write("short", "x")));
  CHECK(!read_sample(directory.write("long", std::string(4096, 'x'))));
  CHECK(!read_sample((directory.path() / "missing").string()));
}
