#include <fmt/core.h>
#include <pewter/errors.h>
#include <pewter/toolchain.h>
#include <pewter/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tools/failure.h"
#include "tools/metal_arguments.h"
#include "tools/toolchain_commands.h"

namespace pewter::tools {
namespace {

namespace fs = std::filesystem;

std::string read_source(const std::string& path) {
  if (path == "-") {
    return {std::istreambuf_iterator<char>(std::cin), {}};
  }
  std::ifstream file(path, std::ios::binary);
  std::error_code code;
  if (!file || fs::is_directory(path, code)) {
    command_error("cannot read '{}': {}", path,
                  fs::exists(path, code) ? "not a file" : "no such file");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Appears whole or not at all, so that a build that is stopped leaves no half a library.
void write_file(const std::string& path, const std::string& content) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  std::error_code code;
  if (file) {
    fs::rename(temporary, path, code);
  }
  if (!file || code) {
    fs::remove(temporary, code);
    command_error("cannot write '{}'", path);
  }
}

bool is_source(const std::string& path) {
  const std::string extension = fs::path(path).extension();
  return path == "-" || extension == ".metal" || extension == ".msl" || extension == ".h";
}

std::string with_extension(const std::string& path, const char* extension) {
  return fs::path(path).filename().replace_extension(extension).string();
}

/// Spaces and the like as make wants them.
std::string quoted(const std::string& path) {
  std::string text;
  for (const char letter : path) {
    if (letter == ' ' || letter == '#') {
      text += '\\';
    }
    text += letter;
    if (letter == '$') {
      text += '$';
    }
  }
  return text;
}

std::string make_rule(const MetalArguments& arguments,
                      const std::string& input,
                      const std::string& output,
                      const std::vector<std::string>& dependencies) {
  std::string rule;
  for (const std::string& target : arguments.dependency_targets) {
    rule += (rule.empty() ? "" : " ") + target;
  }
  rule = (rule.empty() ? quoted(output) : rule) + ": " + quoted(input);
  for (const std::string& file : dependencies) {
    rule += " \\\n  " + quoted(file);
  }
  rule += '\n';
  for (const std::string& file :
       arguments.phony_targets ? dependencies : std::vector<std::string>()) {
    rule += quoted(file) + ":\n";
  }
  return rule;
}

toolchain::Options options_for(const MetalArguments& arguments, const std::string& input) {
  toolchain::Options options = arguments.options;
  options.source_name = input == "-" ? "<stdin>" : input;
  const std::string folder = fs::path(input).parent_path();
  options.source_folder = input == "-" || folder.empty() ? "." : folder;
  return options;
}

std::string source_for(const MetalArguments& arguments, const std::string& input) {
  std::string text;
  for (const std::string& file : arguments.included) {
    text += fmt::format("#include \"{}\"\n", file);
  }
  if (!text.empty()) {
    text += fmt::format("#line 1 \"{}\"\n", input);
  }
  return text + read_source(input);
}

std::string without_line_markers(const std::string& text) {
  std::string plain;
  bool was_empty = true;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const bool is_empty = end == start;
    if (text[start] != '#' || text.compare(start, 7, "#pragma") == 0) {
      if (!is_empty || !was_empty) {
        plain.append(text, start, end - start).append("\n");
      }
      was_empty = is_empty;
    }
    start = end + 1;
  }
  return plain;
}

/// What `-H` prints, read off the line markers of a preprocessed text: `# 1 "file" 1` enters a
/// file, `# 7 "file" 2` returns to one.
std::string list_of_includes(const std::string& text) {
  std::string list;
  std::vector<bool> open;  // whether each open file is the user's
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    const std::size_t first = line.find('"');
    const std::size_t last = line.rfind('"');
    if (line.compare(0, 2, "# ") != 0 || last <= first || last + 2 >= line.size()) {
      continue;
    }
    const std::string name = line.substr(first + 1, last - first - 1);
    const char flag = line[last + 2];
    if (flag == '1') {
      const bool is_users = name[0] != '<' && name.compare(0, 8, "/pewter/") != 0;
      open.push_back(is_users);
      if (is_users) {
        list.append(static_cast<std::size_t>(std::count(open.begin(), open.end(), true)), '.');
        list += " " + name + "\n";
      }
    } else if (flag == '2' && !open.empty()) {
      open.pop_back();
    }
  }
  return list;
}

void report(const MetalArguments& arguments, const toolchain::Result& result) {
  if (result.warning_count == 0 || arguments.quiet) {
    return;
  }
  fmt::print(stderr, "{}{} warning{} generated.\n", result.warnings, result.warning_count,
             result.warning_count > 1 ? "s" : "");
  if (arguments.warnings_are_errors) {
    throw SourceError("error: warnings are errors [-Werror]");
  }
}

void preprocess(const MetalArguments& arguments, bool only_dependencies) {
  std::string output;
  for (const std::string& input : arguments.inputs) {
    const toolchain::Result result =
        toolchain::preprocess(source_for(arguments, input), options_for(arguments, input));
    if (arguments.show_includes) {
      fmt::print(stderr, "{}", list_of_includes(result.output));
    }
    const std::string rule =
        make_rule(arguments, input, with_extension(input, ".air"), result.dependencies);
    if (arguments.write_dependencies) {
      write_file(arguments.dependency_file.empty() ? with_extension(input, ".d")
                                                   : arguments.dependency_file,
                 rule);
    }
    output += only_dependencies      ? rule
              : arguments.plain_text ? without_line_markers(result.output)
                                     : result.output;
  }
  const std::string& path =
      only_dependencies && arguments.output.empty() ? arguments.dependency_file : arguments.output;
  if (path.empty() || path == "-") {
    fmt::print("{}", output);
  } else {
    write_file(path, output);
  }
}

void compile_one(const MetalArguments& arguments,
                 const std::string& input,
                 const std::string& output) {
  if (arguments.show_includes) {
    fmt::print(stderr, "{}",
               list_of_includes(toolchain::preprocess(source_for(arguments, input),
                                                      options_for(arguments, input))
                                    .output));
  }
  const toolchain::Result result =
      toolchain::compile(source_for(arguments, input), options_for(arguments, input));
  report(arguments, result);
  write_file(output, result.output);
  if (arguments.write_dependencies) {
    const std::string& file = arguments.dependency_file;
    write_file(file.empty() ? fs::path(output).replace_extension(".d").string() : file,
               make_rule(arguments, input, output, result.dependencies));
  }
}

void compile(const MetalArguments& arguments) {
  if (arguments.inputs.size() > 1 && !arguments.output.empty()) {
    usage_error("'-o' names one file, but there are {} to compile", arguments.inputs.size());
  }
  for (const std::string& input : arguments.inputs) {
    if (!is_source(input)) {
      usage_error("'{}' is not a Metal source file", input);
    }
    compile_one(arguments, input,
                arguments.output.empty() ? with_extension(input, ".air") : arguments.output);
  }
}

/// Sources are compiled on the way, into files beside the library that go again.
void link(const MetalArguments& arguments) {
  const std::string output = arguments.output.empty() ? "default.metallib" : arguments.output;
  std::vector<std::string> objects;
  std::vector<std::string> temporary;
  const auto clean_up = [&] {
    std::error_code code;
    for (const std::string& path : temporary) {
      fs::remove(path, code);
    }
  };
  try {
    for (const std::string& input : arguments.inputs) {
      objects.push_back(input);
      if (is_source(input)) {
        objects.back() = fmt::format("{}.{}.{}.air", output, temporary.size(), ::getpid());
        temporary.push_back(objects.back());
        compile_one(arguments, input, objects.back());
      }
    }
    write_file(output, toolchain::combine(objects, toolchain::FileKind::Library));
  } catch (...) {
    clean_up();
    throw;
  }
  clean_up();
}

}  // namespace

void run_metal(const std::vector<std::string>& raw) {
  const MetalArguments arguments = parse_metal_arguments(raw);
  if (arguments.goal == MetalArguments::Goal::Version) {
    fmt::print("pewter metal version {} (Metal 4.0)\n", version().pewter);
    return;
  }
  if (arguments.inputs.empty()) {
    usage_error("there is no input file");
  }
  try {
    switch (arguments.goal) {
      case MetalArguments::Goal::Preprocess:
      case MetalArguments::Goal::Dependencies:
        preprocess(arguments, arguments.goal == MetalArguments::Goal::Dependencies);
        break;
      case MetalArguments::Goal::Compile:
        compile(arguments);
        break;
      default:
        link(arguments);
    }
  } catch (const ShaderSyntaxError& error) {
    std::string text = error.what();
    while (!text.empty() && text.back() == '\n') {
      text.pop_back();
    }
    throw SourceError(text);
  }
}

void run_metallib(const std::vector<std::string>& arguments) {
  std::string output = "default.metallib";
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-o") {
      if (++i == arguments.size()) {
        usage_error("'-o' needs a value");
      }
      output = arguments[i];
    } else if (arguments[i] == "--version") {
      fmt::print("pewter metallib version {}\n", version().pewter);
      return;
    } else if (arguments[i].size() > 1 && arguments[i][0] == '-') {
      usage_error("unknown argument '{}'", arguments[i]);
    } else {
      inputs.push_back(arguments[i]);
    }
  }
  if (inputs.empty()) {
    usage_error("there is no input file");
  }
  write_file(output, toolchain::combine(inputs, toolchain::FileKind::Library));
}

void run_metal_ar(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) {
    usage_error("an operation and an archive are needed, as in 'rcs library.metalar a.air'");
  }
  std::string operation = arguments[0];
  operation.erase(0, operation.find_first_not_of('-'));
  const std::string& archive = arguments[1];
  if (operation.find('t') != std::string::npos) {
    for (const toolchain::Unit& unit : toolchain::inspect(archive).units) {
      fmt::print("{}\n", fs::path(unit.source_name).filename().replace_extension(".air").string());
    }
    return;
  }
  if (operation.find_first_of("rq") == std::string::npos) {
    usage_error("operation '{}' is not supported; 'r', 'q' and 't' are", arguments[0]);
  }
  write_file(archive, toolchain::combine({arguments.begin() + 2, arguments.end()},
                                         toolchain::FileKind::Archive));
}

void run_metal_nm(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument[0] == '-') {
      continue;
    }
    for (const toolchain::Unit& unit : toolchain::inspect(argument).units) {
      for (const toolchain::Kernel& kernel : unit.kernels) {
        fmt::print("---------------- T {}\n", kernel.name);
      }
      for (const std::string& constant : unit.function_constants) {
        fmt::print("---------------- U {}\n", constant);
      }
    }
  }
}

void run_metal_objdump(const std::vector<std::string>& arguments) {
  bool with_text = false;
  for (const std::string& argument : arguments) {
    if (argument[0] == '-') {
      with_text = with_text || argument == "-d" || argument == "--disassemble" ||
                  argument == "--disassemble-all" || argument == "-source" ||
                  argument == "--source";
      continue;
    }
    const toolchain::File file = toolchain::inspect(argument);
    fmt::print("{}: {} of {} unit{}\n", argument,
               file.kind == toolchain::FileKind::Object    ? "object"
               : file.kind == toolchain::FileKind::Archive ? "archive"
                                                           : "library",
               file.units.size(), file.units.size() == 1 ? "" : "s");
    for (const toolchain::Unit& unit : file.units) {
      fmt::print("\nunit {}\n", unit.source_name);
      for (const toolchain::Kernel& kernel : unit.kernels) {
        fmt::print("  kernel {}\n", kernel.name);
        for (const std::string& parameter : kernel.parameters) {
          fmt::print("    {}\n", parameter);
        }
      }
      for (const auto& [name, text] : unit.sources) {
        fmt::print("  source {} of {} bytes\n", name, text.size());
      }
      if (with_text) {
        fmt::print("{}\n", unit.sources.empty() ? unit.text : unit.sources.front().second);
      }
    }
  }
}

}  // namespace pewter::tools
