#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/kernel_runner.h"
#include "tests/fuzz/program.h"

namespace pewter::fuzz {

enum class Verdict {
  /// Every mode gave what scalar mode gave.
  Same,
  Different,
  /// Scalar mode cannot compile it: the generator's mistake.
  NotCompiled,
  /// A command buffer failed, or a mode cannot compile what scalar mode can.
  Failed,
  /// The process died. Only seen from outside.
  Crashed,
  /// The process did not come to an end in time.
  Hung,
};

const char* name(Verdict verdict);

struct Result {
  Verdict verdict = Verdict::Same;
  /// Which mode, and what is wrong with it.
  std::string text = {};
  /// Modes in which the kernel was not vectorised after all, and the reason of the last one.
  unsigned fallbacks = 0;
  std::string fallback = {};
};

/// Runs a kernel in scalar mode and in each of `modes` and compares.
Result check(const Program& program, const std::vector<Mode>& modes);

/// The same in a process of its own, so that nothing can happen to this one. `limit_s` is the time
/// that it may take. The caller must not have run a kernel itself.
Result check_apart(const Program& program, const std::vector<Mode>& modes, unsigned limit_s);

}  // namespace pewter::fuzz
