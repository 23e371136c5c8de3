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

/// Whether there is a tool of that name.
bool is_tool(const std::string& name);
/// Runs a tool that there is, or prints its help when that is what the first argument asks for.
void run_tool(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace pewter::tools
