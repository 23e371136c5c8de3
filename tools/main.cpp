#include <fmt/core.h>
#include <pewter/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/nearest_name.h"
#include "tools/toolchain_commands.h"

namespace {

using pewter::tools::nearest_name;

constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

constexpr const char* kFooter = R"(Examples:
  pewter info
  pewter run saxpy.metal --grid 1M --buffer x=random:f32:1M --buffer y=ones:f32:1M --bytes a=float:2
  pewter mem -- ./simulate
  pewter cache --clear

Exit codes: 0 done, 1 it failed, 2 the command line is wrong.
)";

/// The sub-command that was chosen, or the program itself.
const CLI::App& chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

/// "pewter" or "pewter run".
std::string full_name(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? app.get_name() : app.get_name() + " " + command.get_name();
}

/// For an argument that nothing takes: the flag or sub-command that it may have meant.
std::string hint(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  for (const CLI::App* inner : command.get_subcommands(nullptr)) {
    known.push_back(inner->get_name());
  }
  for (const std::string& argument : arguments) {
    const bool is_known = std::find(known.begin(), known.end(), argument) != known.end();
    const std::string nearest = is_known ? "" : nearest_name(argument, known);
    if (!nearest.empty() && (argument.front() == '-') == (nearest.front() == '-')) {
      return fmt::format("; did you mean '{}'?", nearest);
    }
  }
  return "";
}

int complain(const CLI::App& app, const CLI::App& command, const std::string& message) {
  const std::string name = full_name(app, command);
  fmt::print(stderr, "{}: {}\nsee '{} --help'\n", name, message, name);
  return kBadUsage;
}

/// The arguments behind the program's name. Under the name of one of Apple's tools, as a link of
/// that name, the program is that tool.
std::vector<std::string> full_arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  if (pewter::tools::is_tool(name)) {
    arguments.insert(arguments.begin(), name);
  }
  return arguments;
}

int run(CLI::App& app, std::vector<std::string> arguments) {
  try {
    // Apple's tools read their flags themselves.
    if (!arguments.empty() && pewter::tools::is_tool(arguments[0])) {
      pewter::tools::run_tool(arguments[0], {arguments.begin() + 1, arguments.end()});
      return 0;
    }
    // The parser takes them from the back.
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = chosen(app);
    const std::vector<std::string> unknown = command.remaining();
    std::string message = error.what();
    if (&command == &app) {
      message = unknown.empty() ? "a sub-command is needed: info, run, mem, cache or metal"
                                : fmt::format("there is no '{}'", unknown.front());
    }
    return complain(app, command, message + hint(command, unknown));
  } catch (const pewter::tools::UsageError& error) {
    return complain(app, chosen(app), error.what());
  } catch (const pewter::tools::SourceError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kFailed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", full_name(app, chosen(app)), error.what());
    return kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs Metal Shading Language kernels on the CPU.", "pewter");
  app.set_version_flag("--version", pewter::version().pewter);
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(38);
  pewter::tools::add_info_command(app);
  pewter::tools::add_run_command(app);
  pewter::tools::add_cache_command(app);
  pewter::tools::add_mem_command(app);
  pewter::tools::add_toolchain_commands(app);
  const std::vector<std::string> arguments = full_arguments(argc, argv);
  return run(app, arguments);
}
