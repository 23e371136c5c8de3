#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"
#include "pewter/compiler/msl/diagnostics.h"
#include "pewter/compiler/msl/token_rewriter.h"

namespace pewter::compiler::msl {

class ParseAction;

/// A parsed MSL text whose syntax tree stays alive, so that kernels can be instantiated and
/// generated one by one.
///
/// Not safe for concurrent use.
class TranslationUnit {
 public:
  /// Parses into `unit` with `repairs`, adding as many as Clang's answers call for. `prelude_path`
  /// is the precompiled standard library. The unit is there while it is made, so that somebody can
  /// look at what is left of it when that comes to no end; it is null when the text is refused.
  static Result<void, CompileFailure> parse(const std::string& source,
                                            const LibraryOptions& options,
                                            const std::string& prelude_path,
                                            Repairs& repairs,
                                            std::unique_ptr<TranslationUnit>& unit);
  ~TranslationUnit();

  clang::ASTContext& context() { return instance_->getASTContext(); }

  /// The user's declarations at file scope, in source order.
  const std::vector<clang::Decl*>& declarations() const;

  /// Instantiates what `function` needs and generates its IR, with everything it calls, into
  /// `llvm_context`.
  ///
  /// Returns the module; `function_name` is the kernel's symbol in it. Instructions know their
  /// places in the text only `with_positions`, which takes time. Fails with the errors of its
  /// instantiation.
  Result<std::unique_ptr<llvm::Module>, CompileFailure> generate(clang::FunctionDecl* function,
                                                                 llvm::LLVMContext& llvm_context,
                                                                 std::string& function_name,
                                                                 bool with_positions = false);

  /// Whether the text read no file besides the standard library.
  bool self_contained();

  /// The symbol of a variable in generated modules.
  std::string symbol(const clang::VarDecl* variable);

  std::vector<Diagnostic> take_warnings() { return std::move(warnings_); }

  /// The errors reported since diagnostics were last taken; changes nothing.
  std::vector<Diagnostic> errors() const;

  /// What was reported since the last call.
  std::vector<Diagnostic> take_diagnostics() { return diagnostics_->take(); }

  const Repairs& repairs() const { return diagnostics_->repairs(); }

 private:
  TranslationUnit();

  /// One attempt; the diagnostics tell how it went.
  bool attempt(const std::string& source,
               const LibraryOptions& options,
               const std::string& prelude_path,
               const Repairs& repairs);

  std::unique_ptr<DiagnosticCollector> diagnostics_;
  std::unique_ptr<clang::CompilerInstance> instance_;
  std::unique_ptr<ParseAction> action_;
  std::vector<Diagnostic> warnings_;
};

/// Writes the precompiled standard library. Used once, by the build.
Result<void> write_prelude(const std::string& output_path);

}  // namespace pewter::compiler::msl
