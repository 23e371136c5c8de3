#pragma once

#include <memory>
#include <string>

#include "pewter/compiler/compiler.h"

/// The border between the compiler's front, which knows caches and no LLVM, and its back end, a
/// shared library of its own that is opened at the first cache miss.
namespace pewter::compiler {

/// A source text that Clang has parsed and keeps in memory.
class ParsedLibrary {
 public:
  virtual ~ParsedLibrary() = default;

  virtual const LibraryInfo& info() const = 0;

  /// Generates machine code for one kernel, with the bodies of `request.linked`. Calls on the same
  /// object must not overlap.
  virtual Result<KernelCode, CompileFailure> compile(const KernelRequest& request,
                                                     const std::vector<FunctionBody>& linked,
                                                     const std::string& cpu) = 0;

  /// How that kernel runs on lanes, with places in the text: compiles it once more as far as is
  /// needed to tell. Calls on the same object must not overlap.
  virtual Result<KernelExplanation, CompileFailure> explain(const KernelRequest& request,
                                                            const std::vector<FunctionBody>& linked,
                                                            const std::string& cpu) = 0;

  /// The body of a visible function. Calls on the same object must not overlap.
  virtual Result<FunctionBody, CompileFailure> body(
      const std::string& function, const std::map<std::uint32_t, ConstantBytes>& constants) = 0;
};

/// The back end. Its methods may be called from any thread.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Result<std::unique_ptr<ParsedLibrary>, CompileFailure> parse(
      const std::string& source, const LibraryOptions& options) = 0;

  virtual Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                              const LibraryOptions& options) = 0;
};

/// The symbol of the back end's one exported function, `Backend* (const char* prelude_path)`, and
/// its type.
inline constexpr const char* kBackendSymbol = "pewter_compiler_backend";
using BackendFactory = Backend* (*)(const char* prelude_path);

}  // namespace pewter::compiler
