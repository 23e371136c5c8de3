#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/support/gpu.h"

namespace examples {

/// How an example went: one row of the gallery's table.
struct Outcome {
  std::string kernel;
  std::string grid;
  double compile_ms = 0;
  double run_ms = 0;
  /// For instance "3.1 GFLOP/s".
  std::string rate;
  bool correct = false;
  /// What was compared and how far apart it was.
  std::string check;
  /// A file that the example wrote; empty when it writes none.
  std::string file;
};

/// "3.1 GFLOP/s" for an amount of work, in units, done in some milliseconds.
std::string rate(double amount, double milliseconds, const char* unit);

/// The greatest |result - reference| over the greatest |reference|.
struct Difference {
  /// Takes part of the comparison one pair at a time.
  void add(double result, double reference);
  /// Infinite when a result was not a number.
  double relative() const;

 private:
  double largest_difference_ = 0;
  double largest_reference_ = 0;
};

/// An aligned table of outcomes, with a line for each file and for each failed check.
std::string table(const std::vector<Outcome>& outcomes);

/// Runs examples one after another, prints the table, and returns the exit code of the program: 0
/// when every result is correct.
int run_examples(const std::vector<std::function<Outcome(Gpu&)>>& examples);

}  // namespace examples
