#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/tool.h"

namespace pewter::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// A program that allocates 48 MiB, says so, and waits until its input ends.
class Holder {
 public:
  enum class Await { Nothing, Ready };

  explicit Holder(Await awaited) {
    REQUIRE(pipe(input_) == 0);
    REQUIRE(pipe(output_) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      dup2(input_[0], 0);
      dup2(output_[1], 1);
      close(input_[1]);
      close(output_[0]);
      setenv("PEWTER_STATS", "1", 1);
      execl(PEWTER_MEMORY_PROBE, PEWTER_MEMORY_PROBE, "hold", nullptr);
      _exit(127);
    }
    close(input_[0]);
    close(output_[1]);
    char ready = 0;
    REQUIRE((awaited == Await::Nothing || read(output_[0], &ready, 1) == 1));
  }
  ~Holder() {
    close(input_[1]);
    close(output_[0]);
    waitpid(process_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  std::string process() const { return std::to_string(process_); }

 private:
  int input_[2] = {};
  int output_[2] = {};
  pid_t process_ = 0;
};

TEST_CASE("mem runs a program and charts its memory") {
  const auto result = pewter_command({"mem", "--", PEWTER_MEMORY_PROBE, "steps"});
  CHECK(result.code == 0);
  CHECK(contains(result.output, "done\n"));
  CHECK(contains(result.output, "█ active"));
  CHECK(contains(result.output, "peak active     96 MiB"));
  CHECK(contains(result.output, "from the cache"));
}

TEST_CASE("mem gives the samples as JSON") {
  const auto result = pewter_command({"mem", "--json", "--", PEWTER_MEMORY_PROBE, "steps"});
  REQUIRE(result.code == 0);
  const auto list = nlohmann::json::parse(result.output.substr(result.output.find('[')));
  REQUIRE(!list.empty());
  CHECK(list.back()["peak"] == 96 * kMiB);
}

TEST_CASE("mem watches a process that reports its memory") {
  const Holder holder(Holder::Await::Ready);
  const auto result =
      pewter_command({"mem", "--pid", holder.process(), "--seconds", "0.1", "--json"});
  REQUIRE_MESSAGE(result.code == 0, result.errors);
  const auto list = nlohmann::json::parse(result.output);
  CHECK(list.back()["active"] == 48 * kMiB);
}

TEST_CASE("mem watches a process that has only been started") {
  const Holder holder(Holder::Await::Nothing);
  const auto result =
      pewter_command({"mem", "--pid", holder.process(), "--seconds", "0.1", "--json"});
  CHECK_MESSAGE(result.code == 0, result.errors);
}

TEST_CASE("mem passes on that a program failed") {
  const auto result = pewter_command({"mem", "--", PEWTER_MEMORY_PROBE, "nonsense"});
  CHECK(result.code == 1);
  CHECK(contains(result.errors, "ended with code 2"));
}

TEST_CASE("mem says why there is nothing to show") {
  const auto silent = pewter_command({"mem", "--", "true"});
  CHECK(silent.code == 1);
  CHECK(contains(silent.errors, "not linked with libpewter"));
  const auto missing = pewter_command({"mem", "--", "/nowhere/program"});
  CHECK(missing.code == 1);
  CHECK(contains(missing.errors, "'/nowhere/program' cannot be started: No such file"));
  const auto other = pewter_command({"mem", "--pid", std::to_string(getpid())});
  CHECK(other.code == 1);
  CHECK(contains(other.errors, "start it with PEWTER_STATS=1"));
  CHECK(pewter_command({"mem"}).code == 2);
}

}  // namespace
}  // namespace pewter::test
