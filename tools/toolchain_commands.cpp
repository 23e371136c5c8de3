#include "tools/toolchain_commands.h"

#include <fmt/core.h>

#include <filesystem>
#include <vector>

#include "tools/commands.h"
#include "tools/failure.h"

namespace pewter::tools {
namespace {

struct Tool {
  const char* name;
  void (*run)(const std::vector<std::string>& arguments);
  const char* help;
  /// What stands behind the name in the usage and in each of the examples.
  const char* usage;
  std::vector<const char*> examples;
};

const std::vector<Tool>& tools() {
  static const std::vector<Tool> tools = {
      {"metal",
       run_metal,
       "Compile Metal source, with the flags of Apple's compiler",
       "[FLAGS] FILE...",
       {"-std=metal3.1 -DN=4 -Iinclude -c kernels.metal -o kernels.air",
        "kernels.metal -o default.metallib"}},
      {"metallib",
       run_metallib,
       "Link compiled Metal files to a library",
       "FILE... [-o LIBRARY]",
       {"kernels.air more.air -o default.metallib"}},
      {"metal-ar",
       run_metal_ar,
       "Put compiled Metal files into an archive",
       "OPERATION ARCHIVE [FILE...]",
       {"rcs library.metalar kernels.air more.air", "t library.metalar"}},
      {"metal-nm",
       run_metal_nm,
       "List the kernels of compiled Metal files",
       "FILE...",
       {"default.metallib"}},
      {"metal-objdump",
       run_metal_objdump,
       "Show what compiled Metal files hold",
       "[--source] FILE...",
       {"default.metallib"}},
      {"xcrun",
       run_xcrun,
       "Run one of these tools as Apple's xcrun does",
       "[-sdk NAME] TOOL [ARGUMENTS]",
       {"-sdk macosx metal -c kernels.metal", "--find metal"}},
  };
  return tools;
}

const Tool* find_tool(const std::string& name) {
  for (const Tool& tool : tools()) {
    if (name == tool.name) {
      return &tool;
    }
  }
  return nullptr;
}

void print_help(const Tool& tool) {
  fmt::print("{}\nUsage: pewter {} {}\n\ndocs/metal-tools.md lists what it takes.\n\nExamples:\n",
             tool.help, tool.name, tool.usage);
  for (const char* example : tool.examples) {
    fmt::print("  pewter {} {}\n", tool.name, example);
  }
}

}  // namespace

bool is_tool(const std::string& name) {
  return find_tool(name) != nullptr;
}

void run_tool(const std::string& name, const std::vector<std::string>& arguments) {
  const Tool& tool = *find_tool(name);
  if (!arguments.empty() && arguments.front() == "--help") {
    print_help(tool);
  } else {
    tool.run(arguments);
  }
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
  if (!is_tool(name) || name == "xcrun") {
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
  run_tool(name, {arguments.begin() + static_cast<std::ptrdiff_t>(next) + 1, arguments.end()});
}

void add_toolchain_commands(CLI::App& app) {
  for (const Tool& tool : tools()) {
    CLI::App* command = app.add_subcommand(tool.name, tool.help);
    // Here for the list of commands alone: main() runs them before flags are looked at.
    command->prefix_command();
  }
}

}  // namespace pewter::tools
