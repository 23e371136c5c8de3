#include <fmt/format.h>
#include <pewter/errors.h>
#include <pewter/toolchain.h>

#include <set>
#include <stdexcept>

#include "pewter/compiler/compiler.h"

namespace pewter::toolchain {
namespace {

compiler::LibraryOptions library_options(const Options& options) {
  compiler::LibraryOptions wanted;
  wanted.language_version = options.language_version;
  wanted.math_mode = options.math == Math::Safe      ? compiler::MathMode::Safe
                     : options.math == Math::Relaxed ? compiler::MathMode::Relaxed
                                                     : compiler::MathMode::Fast;
  wanted.math_functions = options.math_functions == MathFunctions::Precise
                              ? compiler::MathFunctions::Precise
                              : compiler::MathFunctions::Fast;
  wanted.macros = options.macros;
  wanted.include_paths = options.include_folders;
  wanted.source_folder = options.source_folder;
  wanted.source_name = options.source_name;
  wanted.enable_logging = options.logging;
  return wanted;
}

Math math_of(compiler::MathMode mode) {
  return mode == compiler::MathMode::Safe      ? Math::Safe
         : mode == compiler::MathMode::Relaxed ? Math::Relaxed
                                               : Math::Fast;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string describe(const compiler::Parameter& parameter) {
  switch (parameter.kind) {
    case compiler::ParameterKind::Buffer:
      return fmt::format("buffer({}) {} {}", parameter.index, parameter.type_name, parameter.name);
    case compiler::ParameterKind::Threadgroup:
      return fmt::format("threadgroup({}) {} {}", parameter.index, parameter.type_name,
                         parameter.name);
    case compiler::ParameterKind::Texture:
      return fmt::format("texture({}) {} {}", parameter.index, parameter.type_name, parameter.name);
    case compiler::ParameterKind::Sampler:
      return fmt::format("sampler({}) {}", parameter.index, parameter.name);
    case compiler::ParameterKind::FunctionTable:
      return fmt::format("buffer({}) {} {}", parameter.index, parameter.type_name, parameter.name);
    case compiler::ParameterKind::Builtin:
      break;
  }
  return fmt::format("{} {}", parameter.builtin, parameter.name);
}

}  // namespace

Result preprocess(const std::string& source, const Options& options) {
  auto text = compiler::preprocess(source, library_options(options));
  if (!text) {
    throw ShaderSyntaxError(text.error().text());
  }
  Result result;
  result.output = std::move(text->text);
  result.dependencies = std::move(text->dependencies);
  return result;
}

Result compile(const std::string& source, const Options& options) {
  std::vector<std::string> dependencies;
  auto unit = compiler::build_unit(source, library_options(options), dependencies);
  if (!unit) {
    throw ShaderSyntaxError(unit.error().text());
  }
  Result result;
  result.warnings = compiler::CompileFailure{unit->info.warnings}.text();
  result.warning_count = unit->info.warnings.size();
  result.dependencies = std::move(dependencies);
  if (options.record_source) {
    unit->sources.emplace_back(options.source_name, source);
  }
  // Whoever loads the library has not asked for this compilation.
  unit->info.warnings.clear();
  result.output = text_of(compiler::write_library_file(compiler::LibraryFileKind::Object, {*unit}));
  return result;
}

std::string combine(const std::vector<std::string>& paths, FileKind kind) {
  std::vector<compiler::LibraryUnit> units;
  std::set<std::string> names;
  for (const std::string& path : paths) {
    auto file = compiler::read_library_file(path);
    if (!file) {
      throw FileError(file.error().message);
    }
    for (compiler::LibraryUnit& unit : file->units) {
      for (const compiler::KernelInfo& kernel : unit.info.kernels) {
        if (!names.insert(kernel.name).second) {
          throw std::invalid_argument(
              fmt::format("'{}': there is already a kernel named '{}'", path, kernel.name));
        }
      }
      units.push_back(std::move(unit));
    }
  }
  return text_of(compiler::write_library_file(static_cast<compiler::LibraryFileKind>(kind), units));
}

File inspect(const std::string& path) {
  auto file = compiler::read_library_file(path);
  if (!file) {
    throw FileError(file.error().message);
  }
  File result;
  result.kind = static_cast<FileKind>(file->kind);
  for (compiler::LibraryUnit& unit : file->units) {
    Unit described;
    described.source_name = unit.options.source_name;
    described.language_version = unit.options.language_version;
    described.math = math_of(unit.options.math_mode);
    for (const compiler::KernelInfo& kernel : unit.info.kernels) {
      Kernel entry{kernel.name, {}};
      for (const compiler::Parameter& parameter : kernel.parameters) {
        entry.parameters.push_back(describe(parameter));
      }
      described.kernels.push_back(std::move(entry));
    }
    for (const compiler::FunctionConstant& constant : unit.info.constants) {
      described.function_constants.push_back(constant.name);
    }
    described.text = std::move(unit.text);
    described.sources = std::move(unit.sources);
    result.units.push_back(std::move(described));
  }
  return result;
}

}  // namespace pewter::toolchain
