#include <fcntl.h>
#include <fmt/core.h>
#include <pewter/process_memory.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/memory_chart.h"

namespace pewter::tools {
namespace {

using Clock = std::chrono::steady_clock;

// What a process that was started just before takes until it reports.
constexpr std::chrono::seconds kStartPatience(2);

constexpr const char* kFooter =
    R"(Runs a program and charts its memory when it has ended, or watches one that runs already
and was started with PEWTER_STATS=1.

Examples:
  pewter mem -- ./simulate --steps 100
  PEWTER_STATS=1 ./serve &  pewter mem --pid $! --seconds 10
  pewter mem --json -- ./simulate > memory.json
)";

struct Request {
  std::vector<std::string> program;
  int process = 0;
  double seconds = 0;
  int interval_ms = 10;
  int width = 72;
  int height = 14;
  bool json = false;
};

/// The samples of a process, as it goes on.
class Recording {
 public:
  explicit Recording(std::string path) : path_(std::move(path)) {}

  void look() {
    const auto sample = read_memory_sample(path_);
    if (!sample) {
      return;
    }
    // The newest of a millisecond counts: the last sample of all may share it with another.
    if (!samples_.empty() && sample->milliseconds == samples_.back().milliseconds) {
      samples_.pop_back();
    }
    samples_.push_back(*sample);
  }
  const std::vector<MemorySample>& samples() const { return samples_; }

 private:
  std::string path_;
  std::vector<MemorySample> samples_;
};

void show(const Request& request, const std::vector<MemorySample>& samples) {
  if (request.json) {
    fmt::print("{}", memory_json(samples));
    return;
  }
  fmt::print("{}{}",
             memory_chart(samples, static_cast<std::size_t>(request.width),
                          static_cast<std::size_t>(request.height)),
             memory_summary(samples));
}

/// A new empty file that is deleted at the end of the scope.
class ScratchFile {
 public:
  ScratchFile() {
    path_ = (std::filesystem::temp_directory_path() / "pewter-mem-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) {
      command_error("no file can be made in '{}': {}",
                    std::filesystem::temp_directory_path().string(), std::strerror(errno));
    }
    close(file);
  }
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

pid_t start(const std::vector<std::string>& program, const std::string& path) {
  // Tells, by closing or by a number, whether the program could be started.
  int ends[2];
  if (pipe(ends) != 0) {
    command_error("no pipe can be made: {}", std::strerror(errno));
  }
  const pid_t child = fork();
  if (child < 0) {
    command_error("no process can be made: {}", std::strerror(errno));
  }
  if (child == 0) {
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    close(ends[0]);
    setenv("PEWTER_STATS", path.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : program) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int reason = errno;
    static_cast<void>(write(ends[1], &reason, sizeof(reason)) == 0);
    _exit(127);
  }
  close(ends[1]);
  int reason = 0;
  const bool failed = read(ends[0], &reason, sizeof(reason)) == sizeof(reason);
  close(ends[0]);
  if (failed) {
    waitpid(child, nullptr, 0);
    command_error("'{}' cannot be started: {}", program.front(), std::strerror(reason));
  }
  return child;
}

void run_program(const Request& request) {
  const ScratchFile file;
  Recording recording(file.path());
  const pid_t child = start(request.program, file.path());
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    recording.look();
    std::this_thread::sleep_for(std::chrono::milliseconds(request.interval_ms));
  }
  recording.look();
  if (recording.samples().empty()) {
    command_error("'{}' reported nothing: it is not linked with libpewter",
                  request.program.front());
  }
  show(request, recording.samples());
  if (WIFSIGNALED(status)) {
    command_error("'{}' was ended by signal {}", request.program.front(), WTERMSIG(status));
  }
  if (WEXITSTATUS(status) != 0) {
    command_error("'{}' ended with code {}", request.program.front(), WEXITSTATUS(status));
  }
}

bool is_running(int process) {
  return kill(process, 0) == 0;
}

void watch(const Request& request) {
  Recording recording(memory_sample_path(request.process));
  const auto first_end = Clock::now() + kStartPatience;
  recording.look();
  while (recording.samples().empty() && is_running(request.process) && Clock::now() < first_end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(request.interval_ms));
    recording.look();
  }
  if (recording.samples().empty()) {
    command_error("process {} does not report its memory; start it with PEWTER_STATS=1",
                  request.process);
  }
  const auto end = Clock::now() + std::chrono::duration<double>(request.seconds);
  while (is_running(request.process) && (request.seconds == 0 || Clock::now() < end)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(request.interval_ms));
    recording.look();
  }
  show(request, recording.samples());
}

}  // namespace

void add_mem_command(CLI::App& app) {
  auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("mem", "Chart the memory of a program over time");
  command->footer(kFooter);
  command->add_option("program", request->program, "Program to run, and its arguments, after --");
  command->add_option("--pid", request->process, "Watch this process instead")
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", request->seconds, "With --pid: how long; 0 is until it ends")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--interval", request->interval_ms, "Milliseconds between two looks")
      ->check(CLI::Range(1, 60000))
      ->capture_default_str();
  command->add_option("--width", request->width, "Columns of the chart")
      ->check(CLI::Range(8, 1000))
      ->capture_default_str();
  command->add_option("--height", request->height, "Rows of the chart")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  command->add_flag("--json", request->json, "Print the samples instead");
  command->callback([request] {
    if (request->program.empty() == (request->process == 0)) {
      usage_error("give either a program to run or the --pid of one");
    }
    request->process != 0 ? watch(*request) : run_program(*request);
  });
}

}  // namespace pewter::tools
