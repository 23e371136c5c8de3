#include "examples/support/outcome.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace examples {
namespace {

using Row = std::array<std::string, 6>;

Row row(const Outcome& outcome) {
  return {outcome.kernel,
          outcome.grid,
          fmt::format("{:.1f} ms", outcome.compile_ms),
          fmt::format("{:.2f} ms", outcome.run_ms),
          outcome.rate,
          outcome.correct ? "yes" : "WRONG"};
}

// Text columns lean left, numbers right.
std::string cell(const std::string& text, std::size_t width, std::size_t column) {
  const bool left = column < 2;
  return left ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
}

}  // namespace

std::string rate(double amount, double milliseconds, const char* unit) {
  return fmt::format("{:.2f} G{}", amount / milliseconds / 1e6, unit);
}

void Difference::add(double result, double reference) {
  const double difference = std::abs(result - reference);
  largest_difference_ = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                               : std::max(largest_difference_, difference);
  largest_reference_ = std::max(largest_reference_, std::abs(reference));
}

double Difference::relative() const {
  return largest_difference_ == 0 ? 0 : largest_difference_ / largest_reference_;
}

std::string table(const std::vector<Outcome>& outcomes) {
  std::vector<Row> rows = {{"kernel", "grid", "compile", "run", "rate", "checked"}};
  for (const Outcome& outcome : outcomes) {
    rows.push_back(row(outcome));
  }
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& cells : rows) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      widths[column] = std::max(widths[column], cells[column].size());
    }
  }

  std::string text;
  for (const Row& cells : rows) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const bool last = column + 1 == cells.size();
      text += last ? cells[column] + "\n" : cell(cells[column], widths[column], column) + "  ";
    }
  }
  for (const Outcome& outcome : outcomes) {
    if (!outcome.correct) {
      text += fmt::format("{}: {}\n", outcome.kernel, outcome.check);
    }
    if (!outcome.file.empty()) {
      text += fmt::format("{}: wrote {}\n", outcome.kernel, outcome.file);
    }
  }
  return text;
}

int run_examples(const std::vector<std::function<Outcome(Gpu&)>>& examples) {
  try {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    Gpu gpu;
    std::vector<Outcome> outcomes;
    for (const auto& example : examples) {
      outcomes.push_back(example(gpu));
    }
    fmt::print("{}", table(outcomes));
    const bool all_correct = std::all_of(outcomes.begin(), outcomes.end(),
                                         [](const Outcome& outcome) { return outcome.correct; });
    return all_correct ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace examples
