#include "tests/fuzz/campaign.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "tests/fuzz/check.h"
#include "tests/fuzz/kernel_generator.h"

namespace pewter::fuzz {
namespace {

constexpr std::size_t kSeedsPerProcess = 50;

// Lines by which a worker tells which seed it is at; everything else is for people.
constexpr const char* kStarted = "@started ";
constexpr const char* kEnded = "@ended ";
constexpr const char* kFellBack = "@fell back ";

/// A worker and what it writes.
class Worker {
 public:
  Worker(const Campaign& campaign, std::uint64_t first, std::size_t count) {
    std::vector<std::string> command = campaign.worker;
    command.insert(command.end(),
                   {"--seed", std::to_string(first), "--count", std::to_string(count)});
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      return;
    }
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string& word : command) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~Worker() {
    if (output_ != nullptr) {
      std::fclose(output_);
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool line(std::string& text) {
    text.clear();
    for (int letter = 0; output_ != nullptr && (letter = std::fgetc(output_)) != EOF;) {
      if (letter == '\n') {
        return true;
      }
      text += static_cast<char>(letter);
    }
    return !text.empty();
  }

  /// The signal that ended it; 0 when it came to its end.
  int end() {
    int status = 0;
    waitpid(process_, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t process_ = -1;
  FILE* output_ = nullptr;
};

class Parent {
 public:
  explicit Parent(const Campaign& campaign) : campaign_(campaign) {}

  std::size_t run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < campaign_.jobs; ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    std::size_t bad = 0;
    std::string summary;
    for (const auto& [verdict, count] : verdicts_) {
      summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, verdict);
      bad += verdict == name(Verdict::Same) ? 0 : count;
    }
    for (const auto& [reason, count] : fallbacks_) {
      fmt::print("{} not vectorised: {}\n", count, reason);
    }
    fmt::print("{} kernels: {}\n", campaign_.count, summary);
    return bad;
  }

 private:
  void work() {
    for (;;) {
      const std::size_t start = next_.fetch_add(kSeedsPerProcess);
      if (start >= campaign_.count) {
        return;
      }
      const std::size_t end = std::min(start + kSeedsPerProcess, campaign_.count);
      run_part(campaign_.first_seed + start, campaign_.first_seed + end);
    }
  }

  void run_part(std::uint64_t first, std::uint64_t end) {
    while (first < end) {
      Worker worker(campaign_, first, end - first);
      std::string line;
      std::string report;
      std::uint64_t at = first;
      bool is_running = false;
      while (worker.line(line)) {
        if (line.starts_with(kStarted)) {
          at = std::stoull(line.substr(std::strlen(kStarted)));
          is_running = true;
        } else if (line.starts_with(kEnded)) {
          note(line.substr(std::strlen(kEnded)), report);
          report.clear();
          is_running = false;
        } else if (line.starts_with(kFellBack)) {
          const std::scoped_lock lock(mutex_);
          ++fallbacks_[line.substr(std::strlen(kFellBack))];
        } else {
          report += line + "\n";
        }
      }
      const int signal = worker.end();
      if (signal == 0 && !is_running) {
        return;
      }
      const bool hung = signal == SIGALRM;
      note(name(hung ? Verdict::Hung : Verdict::Crashed),
           fmt::format("seed {}: the process ended by signal {}\n{}", at, signal,
                       generate(at).source()));
      first = at + 1;
    }
  }

  void note(const std::string& verdict, const std::string& report) {
    const std::scoped_lock lock(mutex_);
    ++verdicts_[verdict];
    std::fputs(report.c_str(), stdout);
    std::fflush(stdout);
  }

  const Campaign& campaign_;
  std::atomic<std::size_t> next_ = 0;

  std::mutex mutex_;  // guards the members below and standard output
  std::map<std::string, std::size_t> verdicts_;
  std::map<std::string, std::size_t> fallbacks_;
};

}  // namespace

std::vector<Mode> modes_for(const Campaign& campaign, std::uint64_t seed) {
  if (!campaign.one_mode || campaign.modes.empty()) {
    return campaign.modes;
  }
  return {campaign.modes[seed % campaign.modes.size()]};
}

std::size_t run(const Campaign& campaign) {
  return Parent(campaign).run();
}

void run_here(const Campaign& campaign) {
  for (std::size_t i = 0; i < campaign.count; ++i) {
    const std::uint64_t seed = campaign.first_seed + i;
    fmt::print("{}{}\n", kStarted, seed);
    std::fflush(stdout);
    alarm(campaign.limit_s);
    const Program program = generate(seed);
    const Result result = check(program, modes_for(campaign, seed));
    alarm(0);
    if (result.verdict != Verdict::Same) {
      fmt::print("seed {}: {}, grid {}x{}x{}, group {}x{}x{}\n{}{}\n", seed, name(result.verdict),
                 program.grid.x, program.grid.y, program.grid.z, program.group.x, program.group.y,
                 program.group.z, result.text, program.source());
    }
    if (result.fallbacks > 0) {
      fmt::print("{}{}\n", kFellBack, result.fallback);
    }
    fmt::print("{}{}\n", kEnded, name(result.verdict));
    std::fflush(stdout);
  }
}

}  // namespace pewter::fuzz
