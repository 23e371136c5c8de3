#pragma once

#include <functional>
#include <string>

/// Timing for all benchmark programs: each work is a Google Benchmark that reports its fastest
/// iteration in a unit of its own, once its answer has been checked.
namespace bench {

/// How a time becomes a figure.
enum class Unit {
  GigabytesPerSecond,
  GigaflopsPerSecond,
  MegaelementsPerSecond,
  MegapixelsPerSecond,
  Microseconds,
  Milliseconds,
};

/// A work that is ready to be run.
struct Prepared {
  std::function<void()> run;
  /// Empty when the first run gave the right answer, otherwise what is wrong with it.
  std::function<std::string()> check;
  /// Called before each run, outside the measured time. May be empty.
  std::function<void()> restore = {};
  /// For works that time themselves: seconds of one run, negative when it failed. Replaces `run`.
  std::function<double()> timed = {};
};

/// Registers a work. `amount` is what one run does, in bytes, operations, elements, or for times
/// the number of things that the time is divided by. `prepare` is called when the work is first
/// measured.
void add(const std::string& name,
         Unit unit,
         double amount,
         const std::function<Prepared()>& prepare);

/// Runs the registered works that `--benchmark_filter` allows; the result of main().
int run_works(int argument_count, char** arguments);

}  // namespace bench
