#include "pewter/compiler/msl/preprocess.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/PreprocessorOutputOptions.h"
#include "clang/Frontend/Utils.h"
#include "llvm/Support/raw_ostream.h"

#include "pewter/compiler/msl/compiler_instance.h"
#include "pewter/compiler/msl/diagnostics.h"
#include "pewter/compiler/msl/invocation.h"

namespace pewter::compiler::msl {
namespace {

/// Prints what the preprocessor makes of a text. An action with a syntax tree, though it has none,
/// because only those know the macros of a precompiled header.
class PrintAction : public clang::ASTFrontendAction {
 public:
  explicit PrintAction(std::string& output) : output_(output) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<clang::ASTConsumer>();
  }

  void ExecuteAction() override {
    clang::PreprocessorOutputOptions options;
    options.ShowCPP = true;
    options.ShowLineMarkers = true;
    llvm::raw_string_ostream stream(output_);
    // Pragmas are printed as they stand, macros and all, which nobody could read again. Only for
    // Microsoft's sake are macros replaced there.
    clang::LangOptions& language = getCompilerInstance().getLangOpts();
    language.MicrosoftExt = true;
    clang::DoPrintPreprocessedInput(getCompilerInstance().getPreprocessor(), &stream, options);
    language.MicrosoftExt = false;
  }

 private:
  std::string& output_;
};

}  // namespace

Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                    const LibraryOptions& options,
                                                    const std::string& prelude_path) {
  DiagnosticCollector diagnostics;
  const auto instance =
      make_text_instance(macro_lines(options) + first_line_marker(options) + source, options,
                         prelude_path, &diagnostics);
  if (instance == nullptr) {
    return plain_failure("the compiler cannot be set up");
  }
  // Clang counts its warnings on standard error; they are told when the text is compiled.
  instance->setVerboseOutputStream(llvm::nulls());
  PreprocessedText result;
  PrintAction action(result.text);
  const bool good = instance->ExecuteAction(action);
  if (!good || instance->getDiagnostics().hasErrorOccurred()) {
    return CompileFailure{diagnostics.take()};
  }
  result.dependencies = files_read(*instance);
  return result;
}

}  // namespace pewter::compiler::msl
