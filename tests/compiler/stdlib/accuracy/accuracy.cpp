#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "tests/compiler/stdlib/accuracy/results.h"
#include "tests/compiler/stdlib/accuracy/sweep.h"

namespace {

using pewter::test::FloatFormat;
using pewter::test::MathFunction;
using pewter::test::Measurement;
using pewter::test::Results;
using pewter::test::Sweep;
using pewter::test::SweepMode;

constexpr int kFound = 1;
constexpr int kBadUsage = 2;

constexpr const char* kFooter = R"(Examples:
  accuracy --functions exp,log2 --stride 4093        a quick look
  accuracy --results accuracy.json                   every float; functions already there are kept
  accuracy --results accuracy.json --document docs/accuracy.md

Exit codes: 0 all within the bounds, 1 something is not, 2 the command line is wrong.
)";

struct Options {
  std::vector<std::string> functions;
  std::vector<std::string> types = {"float", "half", "bfloat"};
  std::uint32_t stride = 1;
  std::uint32_t mode_stride = 1021;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string results;
  std::string document;
};

const FloatFormat* const kFormats[] = {&pewter::test::kFloat, &pewter::test::kHalf,
                                       &pewter::test::kBfloat};

bool is_in(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The ways to compile a function that have to give the bits of the measured one.
std::vector<SweepMode> other_modes(const MathFunction& function) {
  std::vector<SweepMode> modes = {{.is_spmd = false}, {.math = "relaxed"}, {.math = "safe"}};
  if (has_spaces(function)) {
    modes.push_back({.space = "precise"});
    if (!has_fast_kind(function)) {
      modes.push_back({.space = "fast"});
      modes.push_back({.has_fast_functions = true});
    }
  }
  return modes;
}

bool measure_one(const MathFunction& function,
                 const FloatFormat& format,
                 const Options& options,
                 Results& results) {
  const bool is_narrow = format.precision != pewter::test::kFloat.precision;
  Sweep sweep{function, format, is_narrow ? 1 : options.stride, options.jobs};
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const Measurement measured = measure(sweep, {}, [&](double share) {
    if (is_terminal) {
      fmt::print(stderr, "\r{} {}: {:.0f} %   \r", format.name, function.name, share * 100);
    }
  });
  sweep.stride = is_narrow ? 1 : std::max(options.stride, options.mode_stride);
  std::uint64_t differences = 0;
  for (const SweepMode& mode : other_modes(function)) {
    differences += count_differences(sweep, {}, mode);
  }
  const bool is_right = measured.is_right() && differences == 0;
  fmt::print("{} {} {}: {}; {} bits differ between modes\n", is_right ? "ok   " : "WRONG",
             format.name, function.name, measured.text(), differences);
  std::fflush(stdout);
  results.put(function, format, is_narrow ? 1 : options.stride, sweep.stride, measured,
              differences);
  return is_right;
}

int run(const Options& options) {
  Results results(options.results);
  bool all_right = true;
  for (const FloatFormat* format : kFormats) {
    if (!is_in(options.types, format->name)) {
      continue;
    }
    for (const MathFunction& function : pewter::test::math_functions()) {
      const bool is_wanted = options.functions.empty() || is_in(options.functions, function.name);
      if (!is_wanted || !exists_for(function, *format) ||
          results.has(function, *format, options.stride)) {
        continue;
      }
      all_right = measure_one(function, *format, options, results) && all_right;
    }
  }
  if (!options.document.empty()) {
    results.write_document(options.document);
  }
  return all_right && results.are_right() ? 0 : kFound;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the errors of MSL's floating-point functions over all numbers.");
  app.footer(kFooter);
  app.add_option("--functions", options.functions, "names, as in the table")->delimiter(',');
  app.add_option("--types", options.types, "float, half, bfloat")->delimiter(',');
  app.add_option("--stride", options.stride, "every how many floats; 1 for all of them")
      ->check(CLI::PositiveNumber);
  app.add_option("--mode-stride", options.mode_stride,
                 "every how many floats are compared between modes")
      ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "threads")->check(CLI::PositiveNumber);
  app.add_option("--results", options.results,
                 "a JSON file that keeps what is measured; what it has is not measured again");
  app.add_option("--document", options.document, "a Markdown file to write the tables to");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "accuracy: {}\n", error.what());
    return kFound;
  }
}
