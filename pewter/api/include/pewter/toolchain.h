#pragma once

#include <pewter/export.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What Apple's command-line tools do, for programs that build shader libraries: `pewter metal` and
/// its companions are made of these functions. All are safe to call from any thread.
namespace pewter::toolchain {

enum class Math : std::uint8_t { Safe, Relaxed, Fast };

/// Which functions `exp` and others mean without a namespace.
enum class MathFunctions : std::uint8_t { Fast, Precise };

/// How to read a source text.
struct Options {
  /// The name that messages give to the text.
  std::string source_name = "program_source";
  /// Where `#include "..."` looks first; empty for nowhere.
  std::string source_folder;
  std::vector<std::string> include_folders;
  /// `name` to `value`, defined before the first line, in order.
  std::vector<std::pair<std::string, std::string>> macros;
  /// `major << 16 | minor`; 0 for the default.
  std::uint32_t language_version = 0;
  Math math = Math::Fast;
  MathFunctions math_functions = MathFunctions::Fast;
  bool logging = false;
  /// Keep the text itself, beside what is made of it.
  bool record_source = false;
};

/// What became of a text.
struct Result {
  /// The preprocessed text, or the bytes of an object file.
  std::string output;
  /// Warnings as a terminal shows them.
  std::string warnings;
  std::size_t warning_count = 0;
  /// The files that it includes, the standard library's excepted.
  std::vector<std::string> dependencies;
};

/// Expands macros and includes. Throws ShaderSyntaxError with every message when that fails.
PEWTER_EXPORT Result preprocess(const std::string& source, const Options& options);

/// Compiles a text to an object file (`.air`). Throws ShaderSyntaxError with every message.
PEWTER_EXPORT Result compile(const std::string& source, const Options& options);

/// What a file of compiled units is.
enum class FileKind : std::uint8_t { Object, Library, Archive };

/// Puts the units of files together: a library (`.metallib`) that `MTL::Device::newLibrary` loads,
/// or an archive. Throws FileError when one cannot be read, std::invalid_argument when two units
/// have a kernel of one name.
PEWTER_EXPORT std::string combine(const std::vector<std::string>& paths, FileKind kind);

/// A kernel of a file.
struct Kernel {
  std::string name;
  /// One line for each parameter: its kind, index, type and name.
  std::vector<std::string> parameters;
};

/// A unit of a file, for those who look inside.
struct Unit {
  std::string source_name;
  std::uint32_t language_version = 0;
  Math math = Math::Fast;
  std::vector<Kernel> kernels;
  std::vector<std::string> function_constants;
  /// The preprocessed text.
  std::string text;
  /// What was recorded, by name.
  std::vector<std::pair<std::string, std::string>> sources;
};

struct File {
  FileKind kind = FileKind::Library;
  std::vector<Unit> units;
};

/// Reads a whole file. Throws FileError, with the reason, when pewter did not make it or it is
/// damaged.
PEWTER_EXPORT File inspect(const std::string& path);

}  // namespace pewter::toolchain
