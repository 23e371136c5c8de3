#pragma once

#include <pewter/toolchain.h>

#include <string>
#include <vector>

namespace pewter::tools {

/// What the command line of `pewter metal` asks for.
struct MetalArguments {
  enum class Goal { Link, Compile, Preprocess, Dependencies, Version };

  Goal goal = Goal::Link;
  /// Sources, objects and archives; "-" is the standard input.
  std::vector<std::string> inputs;
  std::string output;
  toolchain::Options options;
  /// Files that are read as if the source began with them.
  std::vector<std::string> included;
  /// `-P`: no line markers.
  bool plain_text = false;
  /// `-H`: a line for each file that is included.
  bool show_includes = false;
  bool quiet = false;
  bool warnings_are_errors = false;
  /// `-MD`, `-MMD`, `-M`, `-MM`: a rule for make.
  bool write_dependencies = false;
  std::string dependency_file;
  std::vector<std::string> dependency_targets;
  /// `-MP`: a rule without prerequisites for each file that is included.
  bool phony_targets = false;
};

/// Reads the flags of Apple's `metal`. Throws UsageError for what neither of the two knows, and
/// ignores what only matters to Apple's devices.
MetalArguments parse_metal_arguments(const std::vector<std::string>& arguments);

/// `metal3.1`, `macos-metal2.4` and their kind as `major << 16 | minor`. Throws UsageError.
std::uint32_t parse_language_version(const std::string& text);

}  // namespace pewter::tools
