#include "tools/metal_arguments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/failure.h"

namespace pewter::tools {
namespace {

using Goal = MetalArguments::Goal;

constexpr std::uint32_t kOldest = 1U << 16;
constexpr std::uint32_t kNewest = 4U << 16;

/// Flags with a value behind them that change nothing here.
constexpr std::array<std::string_view, 12> kIgnoredWithValue = {"-target",
                                                                "--target",
                                                                "-arch",
                                                                "-isysroot",
                                                                "-sdk",
                                                                "-Xclang",
                                                                "-index-store-path",
                                                                "-serialize-diagnostics",
                                                                "-fmodules-cache-path",
                                                                "-working-directory",
                                                                "-mllvm",
                                                                "-iframework"};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Walks over the arguments and fills in what they mean.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  MetalArguments read() {
    while (next_ < arguments_.size()) {
      const std::string argument = arguments_[next_++];
      if (argument.empty() || argument[0] != '-' || argument == "-") {
        result_.inputs.push_back(argument);
      } else if (!read_goal(argument) && !read_text_flag(argument) &&
                 !read_dependency_flag(argument) && !is_ignored(argument)) {
        usage_error("unknown argument '{}'", argument);
      }
    }
    return std::move(result_);
  }

 private:
  std::string value(std::string_view flag) {
    if (next_ >= arguments_.size()) {
      usage_error("'{}' needs a value", flag);
    }
    return arguments_[next_++];
  }

  /// The value of a flag that may have it attached; false when `argument` is another one.
  bool joined(const std::string& argument, std::string_view flag, std::string& text) {
    if (!starts_with(argument, flag)) {
      return false;
    }
    text = argument.size() > flag.size() ? argument.substr(flag.size()) : value(flag);
    return true;
  }

  bool read_goal(const std::string& argument) {
    if (argument == "-c") {
      result_.goal = Goal::Compile;
    } else if (argument == "-E") {
      result_.goal = Goal::Preprocess;
    } else if (argument == "-M" || argument == "-MM") {
      result_.goal = Goal::Dependencies;
    } else if (argument == "--version" || argument == "-v" || argument == "-dumpversion") {
      result_.goal = result_.goal == Goal::Link ? Goal::Version : result_.goal;
    } else if (argument == "-P") {
      result_.plain_text = true;
    } else if (argument == "-H") {
      result_.show_includes = true;
    } else if (argument == "-C" || argument == "-CC") {
      // Comments are left out whatever is asked: nothing that is made of the text sees them.
    } else if (argument == "-w") {
      result_.quiet = true;
    } else if (argument == "-Werror") {
      result_.warnings_are_errors = true;
    } else {
      return joined(argument, "-o", result_.output);
    }
    return true;
  }

  bool read_text_flag(const std::string& argument) {
    std::string text;
    toolchain::Options& options = result_.options;
    if (argument == "-include") {
      result_.included.push_back(value(argument));
    } else if (argument == "-x") {
      if (const std::string language = value(argument); language != "metal") {
        usage_error("language '{}' is not supported; only metal is", language);
      }
    } else if (joined(argument, "-isystem", text) || joined(argument, "-iquote", text) ||
               joined(argument, "-I", text)) {
      options.include_folders.push_back(text);
    } else if (joined(argument, "-D", text)) {
      const std::size_t equals = text.find('=');
      options.macros.emplace_back(text.substr(0, equals),
                                  equals == std::string::npos ? "1" : text.substr(equals + 1));
    } else if (joined(argument, "-U", text)) {
      std::erase_if(options.macros, [&](const auto& macro) { return macro.first == text; });
    } else if (starts_with(argument, "-std=")) {
      options.language_version = parse_language_version(argument.substr(5));
    } else if (argument == "-ffast-math" || argument == "-fno-fast-math") {
      const bool is_fast = argument == "-ffast-math";
      options.math = is_fast ? toolchain::Math::Fast : toolchain::Math::Safe;
      options.math_functions =
          is_fast ? toolchain::MathFunctions::Fast : toolchain::MathFunctions::Precise;
    } else if (starts_with(argument, "-fmetal-math-mode=")) {
      options.math = parse_math(argument.substr(18));
    } else if (starts_with(argument, "-fmetal-math-fp32-functions=")) {
      options.math_functions = parse_math_functions(argument.substr(28));
    } else if (argument == "-fmetal-enable-logging") {
      options.logging = true;
    } else if (starts_with(argument, "-frecord-sources")) {
      options.record_source = true;
    } else {
      return false;
    }
    return true;
  }

  static toolchain::MathFunctions parse_math_functions(const std::string& kind) {
    if (kind == "precise") {
      return toolchain::MathFunctions::Precise;
    }
    if (kind != "fast") {
      usage_error("math functions '{}' are neither fast nor precise", kind);
    }
    return toolchain::MathFunctions::Fast;
  }

  static toolchain::Math parse_math(const std::string& mode) {
    if (mode == "safe") {
      return toolchain::Math::Safe;
    }
    if (mode == "relaxed") {
      return toolchain::Math::Relaxed;
    }
    if (mode != "fast") {
      usage_error("math mode '{}' is none of safe, relaxed and fast", mode);
    }
    return toolchain::Math::Fast;
  }

  bool read_dependency_flag(const std::string& argument) {
    std::string text;
    if (argument == "-MD" || argument == "-MMD") {
      result_.write_dependencies = true;
    } else if (argument == "-MP") {
      result_.phony_targets = true;
    } else if (argument == "-MG") {
      return true;
    } else if (joined(argument, "-MF", text)) {
      result_.dependency_file = text;
    } else if (joined(argument, "-MT", text) || joined(argument, "-MQ", text)) {
      result_.dependency_targets.push_back(text);
    } else {
      return false;
    }
    return true;
  }

  bool is_ignored(const std::string& argument) {
    if (std::find(kIgnoredWithValue.begin(), kIgnoredWithValue.end(), argument) !=
        kIgnoredWithValue.end()) {
      value(argument);
      return true;
    }
    constexpr std::array<std::string_view, 9> kFamilies = {"-W",    "-O",        "-g", "-f", "-m",
                                                           "-pipe", "-pedantic", "-q", "-N"};
    return std::any_of(kFamilies.begin(), kFamilies.end(),
                       [&](std::string_view family) { return starts_with(argument, family); });
  }

  const std::vector<std::string>& arguments_;
  std::size_t next_ = 0;
  MetalArguments result_;
};

}  // namespace

MetalArguments parse_metal_arguments(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

std::uint32_t parse_language_version(const std::string& text) {
  const std::size_t start = text.find("metal");
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  char rest = 0;
  const bool is_number =
      start != std::string::npos &&
      std::sscanf(text.c_str() + start, "metal%u.%u%c", &major, &minor, &rest) == 2;
  const std::uint32_t version = major << 16 | minor;
  if (!is_number || minor > 9 || version < kOldest || version > kNewest) {
    usage_error("language '{}' is not supported; 'metal1.0' to 'metal4.0' are", text);
  }
  return version;
}

}  // namespace pewter::tools
