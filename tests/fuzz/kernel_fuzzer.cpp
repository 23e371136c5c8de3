#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "tests/fuzz/campaign.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/kernel_generator.h"
#include "tests/fuzz/reducer.h"

namespace {

using pewter::fuzz::Campaign;
using pewter::fuzz::Mode;
using pewter::fuzz::Program;
using pewter::fuzz::Result;
using pewter::fuzz::Verdict;

constexpr int kFound = 1;
constexpr int kBadUsage = 2;

constexpr const char* kFooter = R"(Examples:
  kernel_fuzzer --count 1000 --jobs 2               any width, as the compiler chooses
  kernel_fuzzer --count 200 --lanes 8,16,32,64      each kernel at each width
  kernel_fuzzer --count 20000 --lanes 8,32,256 --one-mode
  kernel_fuzzer --seed 4711 --show                  print a kernel
  kernel_fuzzer --seed 4711 --lanes 32 --minimize   the least of it that still differs
  kernel_fuzzer --count 100 --lanes scalar          the same mode twice: is the generator sound?

Exit codes: 0 all the same, 1 something was found, 2 the command line is wrong.
)";

std::vector<Mode> parse_modes(const std::vector<std::string>& words) {
  std::vector<Mode> modes;
  for (const std::string& word : words) {
    if (word == "scalar") {
      modes.push_back({false, 0});
    } else if (word == "auto") {
      modes.push_back({true, 0});
    } else {
      modes.push_back({true, static_cast<unsigned>(std::stoul(word))});
    }
  }
  return modes;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? word : "," + word;
  }
  return text;
}

int minimize(const Campaign& campaign) {
  const std::vector<Mode> modes = modes_for(campaign, campaign.first_seed);
  const Program program = pewter::fuzz::generate(campaign.first_seed);
  const Result found = check_apart(program, modes, campaign.limit_s);
  if (found.verdict == Verdict::Same) {
    fmt::print("seed {}: the same in all modes\n", program.seed);
    return 0;
  }
  std::size_t tries = 0;
  const Program least = pewter::fuzz::reduce(program, [&](const Program& candidate) {
    ++tries;
    return check_apart(candidate, modes, campaign.limit_s).verdict == found.verdict;
  });
  const Result result = check_apart(least, modes, campaign.limit_s);
  fmt::print("seed {}: {}, {} of {} lines left after {} tries, grid {}x{}x{}, group {}x{}x{}\n{}{}",
             program.seed, name(result.verdict), least.line_count(), program.line_count(), tries,
             least.grid.x, least.grid.y, least.grid.z, least.group.x, least.group.y, least.group.z,
             result.text, least.source());
  return kFound;
}

/// The kernel, and as comments what it is run with; input buffers hold noise.
void show(const Program& program) {
  std::fputs(program.source().c_str(), stdout);
  fmt::print("// grid {} x {} x {} in groups of {} x {} x {}\n", program.grid.x, program.grid.y,
             program.grid.z, program.group.x, program.group.y, program.group.z);
  fmt::print("// {} math\n", program.is_fast_math ? "fast" : "safe");
  fmt::print("// function constants: {}\n", fmt::join(program.constants, ", "));
  for (const pewter::fuzz::Buffer& buffer : program.buffers) {
    if (buffer.kind == pewter::fuzz::BufferKind::Parameters) {
      std::vector<std::int32_t> words(buffer.bytes.size() / sizeof(std::int32_t));
      std::memcpy(words.data(), buffer.bytes.data(), words.size() * sizeof(std::int32_t));
      fmt::print("// {}, as int: {}\n", buffer.name, fmt::join(words, ", "));
    }
  }
}

int run_command(int argc, char** argv) {
  CLI::App app("Runs random Metal kernels in scalar and in SPMD mode and compares the results",
               "kernel_fuzzer");
  app.footer(kFooter);
  Campaign campaign;
  std::vector<std::string> lanes = {"auto"};
  unsigned timeout_ms = 10000;
  bool is_worker = false;
  bool is_show = false;
  bool is_minimize = false;
  app.add_option("--seed", campaign.first_seed, "Seed of the first kernel");
  app.add_option("--count", campaign.count, "Number of kernels, of seeds that follow each other");
  app.add_option("--lanes", lanes,
                 "Widths to compare with scalar mode: 8 to 1024, auto, or scalar itself")
      ->delimiter(',')
      ->check(
          CLI::IsMember({"8", "16", "32", "64", "128", "256", "512", "1024", "auto", "scalar"}));
  app.add_flag("--one-mode", campaign.one_mode,
               "Run each kernel at one of the widths, in turn, rather than at all of them");
  app.add_option("--jobs", campaign.jobs, "Processes at a time")->check(CLI::Range(1, 64));
  app.add_option("--limit", campaign.limit_s,
                 "Seconds that one kernel may take, compilers included");
  app.add_option("--timeout", timeout_ms, "Milliseconds that one dispatch may take");
  app.add_flag("--show", is_show, "Print the kernel of the seed, and what it is run with, and end");
  app.add_flag("--minimize", is_minimize, "Reduce the kernel of the seed while it shows its fault");
  app.add_flag("--worker", is_worker, "Run in this process; a crash ends it")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  campaign.modes = parse_modes(lanes);
  setenv("PEWTER_CACHE", "0", 1);
  setenv("PEWTER_TIMEOUT_MS", std::to_string(timeout_ms).c_str(), 1);

  if (is_show) {
    show(pewter::fuzz::generate(campaign.first_seed));
    return 0;
  }
  if (is_minimize) {
    return minimize(campaign);
  }
  if (is_worker) {
    run_here(campaign);
    return 0;
  }
  campaign.worker = {"/proc/self/exe", "--worker",
                     "--lanes",        joined(lanes),
                     "--limit",        std::to_string(campaign.limit_s),
                     "--timeout",      std::to_string(timeout_ms)};
  if (campaign.one_mode) {
    campaign.worker.emplace_back("--one-mode");
  }
  return run(campaign) == 0 ? 0 : kFound;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernel_fuzzer: {}\n", error.what());
    return kBadUsage;
  }
}
