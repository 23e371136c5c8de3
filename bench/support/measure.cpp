#include "bench/support/measure.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

namespace bench {
namespace {

const char* text_of(Unit unit) {
  switch (unit) {
    case Unit::GigabytesPerSecond:
      return "GB/s";
    case Unit::GigaflopsPerSecond:
      return "GFLOP/s";
    case Unit::MegaelementsPerSecond:
      return "Melem/s";
    case Unit::MegapixelsPerSecond:
      return "Mpix/s";
    case Unit::Microseconds:
      return "us";
    case Unit::Milliseconds:
      return "ms";
  }
  return "";
}

double figure_of(Unit unit, double amount, double seconds) {
  switch (unit) {
    case Unit::GigabytesPerSecond:
    case Unit::GigaflopsPerSecond:
      return amount / seconds * 1e-9;
    case Unit::MegaelementsPerSecond:
    case Unit::MegapixelsPerSecond:
      return amount / seconds * 1e-6;
    case Unit::Microseconds:
      return seconds / amount * 1e6;
    case Unit::Milliseconds:
      return seconds / amount * 1e3;
  }
  return 0;
}

double seconds_of(const Prepared& work) {
  if (work.timed) {
    return work.timed();
  }
  if (work.restore) {
    work.restore();
  }
  const auto start = std::chrono::steady_clock::now();
  work.run();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

/// What Google Benchmark calls several times, with more iterations each time: prepared once.
struct Work {
  Unit unit;
  double amount;
  std::function<Prepared()> prepare;
  std::unique_ptr<Prepared> prepared = {};
  std::string problem = {};

  void measure(benchmark::State& state) {
    if (prepared == nullptr) {
      prepared = std::make_unique<Prepared>(prepare());
      const double seconds = seconds_of(*prepared);
      problem = seconds < 0 ? "it failed" : prepared->check ? prepared->check() : "";
    }
    if (!problem.empty()) {
      state.SkipWithError(("wrong answer: " + problem).c_str());
      return;
    }
    double best = std::numeric_limits<double>::infinity();
    for (auto _ : state) {
      const double seconds = seconds_of(*prepared);
      best = std::min(best, seconds);
      state.SetIterationTime(seconds);
    }
    state.SetLabel(text_of(unit));
    state.counters["figure"] = figure_of(unit, amount, best);
  }
};

}  // namespace

void add(const std::string& name,
         Unit unit,
         double amount,
         const std::function<Prepared()>& prepare) {
  auto work = std::make_shared<Work>(Work{unit, amount, prepare});
  benchmark::RegisterBenchmark(name.c_str(), [work](benchmark::State& state) {
    work->measure(state);
  })->UseManualTime();
}

int run_works(int argument_count, char** arguments) {
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
