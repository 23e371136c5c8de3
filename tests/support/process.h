#pragma once

#include <map>
#include <string>
#include <vector>

namespace pewter::test {

/// How a program ended and what it wrote.
struct ProcessResult {
  /// Exit code; 128 + the signal's number when a signal ended it.
  int code = -1;
  std::string output;
  std::string errors;
};

/// Runs a program to its end. `environment` is added to this process's own.
ProcessResult run_process(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment = {});

}  // namespace pewter::test
