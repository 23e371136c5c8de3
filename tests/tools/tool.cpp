#include "tests/tools/tool.h"

namespace pewter::test {

ProcessResult pewter_command(const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& environment) {
  std::vector<std::string> command = {PEWTER_TOOL};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, environment);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace pewter::test
