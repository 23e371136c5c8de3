#pragma once

#include <string>
#include <vector>

namespace pewter::tools {

/// What `metal`, `metallib`, `metal-ar`, `metal-nm`, `metal-objdump` and `xcrun` do with their
/// arguments, the program's name excepted. They throw as other commands do.
void run_metal(const std::vector<std::string>& arguments);
void run_metallib(const std::vector<std::string>& arguments);
void run_metal_ar(const std::vector<std::string>& arguments);
void run_metal_nm(const std::vector<std::string>& arguments);
void run_metal_objdump(const std::vector<std::string>& arguments);
void run_xcrun(const std::vector<std::string>& arguments);

/// The function behind a tool's name; null when there is no such tool.
using Tool = void (*)(const std::vector<std::string>& arguments);
Tool find_tool(const std::string& name);

}  // namespace pewter::tools
