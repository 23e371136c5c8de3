#include "tests/api/probe.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/support/process.h"

namespace pewter::test {

std::map<std::string, std::string> probe(const std::string& program,
                                         const std::string& part,
                                         const std::map<std::string, std::string>& environment) {
  const ProcessResult result = run_process({program, part}, environment);
  REQUIRE_MESSAGE(result.code == 0, result.output << result.errors);
  std::map<std::string, std::string> values;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    values[line.substr(0, space)] = space != std::string::npos ? line.substr(space + 1) : "";
  }
  return values;
}

}  // namespace pewter::test
