#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticOptions.h"

#include "pewter/compiler/compiler.h"
#include "pewter/compiler/msl/token_rewriter.h"

namespace pewter::compiler::msl {

/// Collects Clang's messages as Diagnostics at the user's own positions, in MSL's words.
///
/// An error inside the standard library is moved to the user's line that led there. Errors that a
/// second parse with Repairs will cure are counted apart.
class DiagnosticCollector : public clang::DiagnosticConsumer {
 public:
  /// `known` are the repairs already in force: an error that they did not cure is the user's.
  explicit DiagnosticCollector(const Repairs& known = {});

  void BeginSourceFile(const clang::LangOptions& options,
                       const clang::Preprocessor* preprocessor) override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override;

  /// What was collected since the last call, notes folded into the message they belong to.
  std::vector<Diagnostic> take();

  /// The errors among them, left where they are.
  std::vector<Diagnostic> errors() const;

  /// Places that a second parse has to treat differently; empty when the errors, if any, are the
  /// user's.
  const Repairs& repairs() const { return repairs_; }

  /// Whether an error was reported that no repair cures.
  bool has_errors() const { return unrepairable_ > 0; }

 private:
  /// Notes the repair that would make this error go away; false when there is none.
  bool note_repair(const clang::Diagnostic& diagnostic);

  /// Gives the last message the user's position that it still needs, if one is known.
  void settle_position();

  clang::LangOptions language_;
  const Repairs known_;
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options_;
  Repairs repairs_;
  unsigned unrepairable_ = 0;
  bool skip_notes_ = false;
  /// Whether the last message still needs a position of the user's.
  bool needs_position_ = false;
  /// The user's line that last led into the standard library.
  Diagnostic last_way_in_;
  /// Whether the last message is about a macro that is defined again.
  bool is_redefinition_ = false;
  std::vector<Diagnostic> collected_;
};

/// Folder that the embedded standard library appears to be in.
inline constexpr const char* kStdlibFolder = "/pewter/stdlib";

}  // namespace pewter::compiler::msl
