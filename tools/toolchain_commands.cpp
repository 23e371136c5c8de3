#include "tools/toolchain_commands.h"

#include <fmt/core.h>

#include <filesystem>

#include "tools/commands.h"
#include "tools/failure.h"

namespace pewter::tools {
namespace {

struct NamedTool {
  const char* name;
  Tool run;
  const char* help;
};

constexpr NamedTool kTools[] = {
    {"metal", run_metal, "Compile Metal source, with the flags of Apple's compiler"},
    {"metallib", run_metallib, "Link compiled Metal files to a library"},
    {"metal-ar", run_metal_ar, "Put compiled Metal files into an archive"},
    {"metal-nm", run_metal_nm, "List the kernels of compiled Metal files"},
    {"metal-objdump", run_metal_objdump, "Show what compiled Metal files hold"},
    {"xcrun", run_xcrun, "Run one of these tools as Apple's xcrun does"},
};

}  // namespace

Tool find_tool(const std::string& name) {
  for (const NamedTool& tool : kTools) {
    if (name == tool.name) {
      return tool.run;
    }
  }
  return nullptr;
}

void run_xcrun(const std::vector<std::string>& arguments) {
  std::size_t next = 0;
  bool finds = false;
  while (next < arguments.size() && arguments[next][0] == '-') {
    std::string flag = arguments[next++];
    flag.erase(0, flag.find_first_not_of('-'));
    if (flag == "sdk" || flag == "toolchain") {
      ++next;
    } else if (flag == "find" || flag == "f") {
      finds = true;
    } else if (flag.rfind("show-sdk", 0) == 0) {
      // Build scripts only pass it on.
      fmt::print("{}\n", flag == "show-sdk-path" ? "/" : "15.0");
      return;
    } else if (flag != "run" && flag != "r" && flag != "log" && flag != "l" && flag != "v" &&
               flag != "verbose" && flag != "no-cache" && flag != "n") {
      usage_error("unknown argument '{}'", arguments[next - 1]);
    }
  }
  if (next >= arguments.size()) {
    usage_error("the name of a tool is needed");
  }
  const std::string& name = arguments[next];
  const Tool tool = find_tool(name);
  if (tool == nullptr || tool == run_xcrun) {
    command_error(
        "unable to find utility \"{}\": pewter has metal, metallib, metal-ar, metal-nm "
        "and metal-objdump",
        name);
  }
  if (finds) {
    std::error_code code;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
    fmt::print("{}\n", (self.parent_path() / "apple" / name).string());
    return;
  }
  tool({arguments.begin() + static_cast<std::ptrdiff_t>(next) + 1, arguments.end()});
}

void add_toolchain_commands(CLI::App& app) {
  for (const NamedTool& tool : kTools) {
    CLI::App* command = app.add_subcommand(tool.name, tool.help);
    // Here for the list of commands alone: main() runs them before flags are looked at.
    command->prefix_command();
  }
}

}  // namespace pewter::tools
