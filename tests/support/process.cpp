#include "tests/support/process.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/temporary_directory.h"

namespace pewter::test {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment,
                         const std::string& output,
                         const std::string& errors) {
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);

  const bool redirected = std::freopen("/dev/null", "r", stdin) != nullptr &&
                          std::freopen(output.c_str(), "w", stdout) != nullptr &&
                          std::freopen(errors.c_str(), "w", stderr) != nullptr;
  if (redirected) {
    execvp(arguments[0], arguments.data());
  }
  _exit(127);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment) {
  // Files rather than pipes: nothing can block, whatever the program writes.
  const TemporaryDirectory directory;
  const std::string output = directory.write("output", "");
  const std::string errors = directory.write("errors", "");

  // What is still in the buffer must not be written by the child too.
  std::fflush(stdout);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    become(command, environment, output, errors);
  }

  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_file(output), read_file(errors)};
}

}  // namespace pewter::test
