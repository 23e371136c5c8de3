#pragma once

#include <string>
#include <vector>

#include "tests/support/process.h"

namespace pewter::test {

/// Runs the `pewter` command with these arguments.
ProcessResult pewter_command(const std::vector<std::string>& arguments,
                             const std::map<std::string, std::string>& environment = {});

bool contains(const std::string& text, const std::string& part);

}  // namespace pewter::test
