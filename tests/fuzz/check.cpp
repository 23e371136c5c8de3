#include "tests/fuzz/check.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/comparison.h"

namespace pewter::fuzz {

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Same:
      return "same";
    case Verdict::Different:
      return "different";
    case Verdict::NotCompiled:
      return "not compiled";
    case Verdict::Failed:
      return "failed";
    case Verdict::Crashed:
      return "crashed";
    case Verdict::Hung:
      return "hung";
  }
  return "";
}

Result check(const Program& program, const std::vector<Mode>& modes) {
  const KernelRunner runner(program);
  const Outcome expected = runner.run(Mode{});
  if (expected.kind == Outcome::Kind::NotCompiled) {
    return {Verdict::NotCompiled, "scalar: " + expected.error};
  }
  if (expected.kind == Outcome::Kind::Failed) {
    return {Verdict::Failed, "scalar: " + expected.error};
  }
  Result result;
  for (const Mode& mode : modes) {
    const Outcome actual = runner.run(mode);
    if (!actual.fallback.empty()) {
      ++result.fallbacks;
      result.fallback = actual.fallback;
    }
    if (actual.kind != Outcome::Kind::Ran) {
      result.verdict = Verdict::Failed;
      result.text += mode.name() + ": " + actual.error + "\n";
      continue;
    }
    const Difference difference = compare(program, expected, actual);
    if (difference.count > 0) {
      result.verdict = result.verdict == Verdict::Same ? Verdict::Different : result.verdict;
      result.text += fmt::format("{}: {} elements differ\n{}", mode.name(), difference.count,
                                 difference.lines);
    }
  }
  return result;
}

Result check_apart(const Program& program, const std::vector<Mode>& modes, unsigned limit_s) {
  int ends[2];
  if (pipe(ends) != 0) {
    return {Verdict::Crashed, "no pipe"};
  }
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(limit_s);
    const Result result = check(program, modes);
    const auto written = write(ends[1], result.text.data(), result.text.size());
    _exit(written >= 0 ? static_cast<int>(result.verdict) : 127);
  }
  close(ends[1]);
  Result result;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof(part))) > 0;) {
    result.text.append(part, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const bool hung = WTERMSIG(status) == SIGALRM;
    result.verdict = hung ? Verdict::Hung : Verdict::Crashed;
    result.text += hung ? fmt::format("no end within {} s\n", limit_s)
                        : fmt::format("ended by signal {}\n", WTERMSIG(status));
  } else if (WEXITSTATUS(status) <= static_cast<int>(Verdict::Failed)) {
    result.verdict = static_cast<Verdict>(WEXITSTATUS(status));
  } else {
    result.verdict = Verdict::Crashed;
    result.text += fmt::format("ended with code {}\n", WEXITSTATUS(status));
  }
  return result;
}

}  // namespace pewter::fuzz
