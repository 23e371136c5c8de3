#include "pewter/compiler/msl/diagnostics.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "clang/AST/Type.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/TextDiagnostic.h"
#include "clang/Lex/LexDiagnostic.h"
#include "llvm/Support/raw_ostream.h"

namespace pewter::compiler::msl {
namespace {

// Clang's names for things that MSL spells otherwise; longer ones first.
constexpr std::array<std::pair<const char*, const char*>, 16> kWords = {{
    {" (aka '_Float16')", ""},
    {" (aka '__bf16')", ""},
    {"const __private ", "constant "},
    {"__private ", "constant "},
    {"__global ", "device "},
    {"__local ", "threadgroup "},
    {"__regcall ", ""},
    {"__attribute__((regcall))", ""},
    {"_Float16", "half"},
    {"__bf16", "bfloat"},
    {"unsigned char", "uchar"},
    {"unsigned short", "ushort"},
    {"unsigned int", "uint"},
    {"unsigned long", "ulong"},
    {"metal::vec<float, 4>", "float4"},
    {"OpenCL ", ""},
}};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string in_words_of_msl(std::string text) {
  for (const auto& [from, to] : kWords) {
    replace_all(text, from, to);
  }
  return text;
}

/// A rendered message without its notes on macros of the standard library, which users cannot read.
/// The lines of a note begin with its place, those of source text with a blank.
std::string without_stdlib(const std::string& rendered) {
  std::string kept;
  bool is_kept = true;
  for (std::size_t begin = 0; begin < rendered.size();) {
    const std::size_t end = std::min(rendered.find('\n', begin), rendered.size() - 1) + 1;
    if (rendered[begin] != ' ') {
      is_kept = rendered.compare(begin, std::strlen(kStdlibFolder), kStdlibFolder) != 0;
    }
    if (is_kept) {
      kept.append(rendered, begin, end - begin);
    }
    begin = end;
  }
  return kept;
}

bool is_half_or_bfloat(const clang::Diagnostic& diagnostic, unsigned argument) {
  if (diagnostic.getNumArgs() <= argument ||
      diagnostic.getArgKind(argument) != clang::DiagnosticsEngine::ak_qualtype) {
    return false;
  }
  const auto type =
      clang::QualType::getFromOpaquePtr(reinterpret_cast<void*>(diagnostic.getRawArg(argument)));
  return type->isBFloat16Type() || type->isFloat16Type();
}

bool in_stdlib(const clang::SourceManager& sources, clang::SourceLocation place) {
  return sources.getFilename(sources.getFileLoc(place)).starts_with(kStdlibFolder);
}

}  // namespace

DiagnosticCollector::DiagnosticCollector(const Repairs& known)
    : known_(known), options_(new clang::DiagnosticOptions) {
  // Positions as `#line` has it: the user's.
  options_->ShowPresumedLoc = true;
}

void DiagnosticCollector::BeginSourceFile(const clang::LangOptions& options,
                                          const clang::Preprocessor* preprocessor) {
  language_ = options;
  DiagnosticConsumer::BeginSourceFile(options, preprocessor);
}

bool DiagnosticCollector::note_repair(const clang::Diagnostic& diagnostic) {
  const unsigned place = diagnostic.getLocation().getRawEncoding();
  switch (diagnostic.getID()) {
    case clang::diag::err_bad_cxx_cast_generic:
      if (is_half_or_bfloat(diagnostic, 1) && is_half_or_bfloat(diagnostic, 2)) {
        repairs_.casts.insert(place);
        return known_.casts.count(place) == 0;
      }
      return false;
    case clang::diag::err_typecheck_cond_incompatible_operands:
    case clang::diag::err_conditional_ambiguous:
    case clang::diag::err_conditional_ambiguous_ovl:
      repairs_.conditionals.insert(place);
      return known_.conditionals.count(place) == 0;
    default:
      return false;
  }
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                           const clang::Diagnostic& diagnostic) {
  DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  const bool is_note = level == clang::DiagnosticsEngine::Note;
  if (level == clang::DiagnosticsEngine::Ignored || level == clang::DiagnosticsEngine::Remark ||
      (is_note && skip_notes_)) {
    return;
  }
  const bool is_error = level >= clang::DiagnosticsEngine::Error;
  // The pragma is ours; when its end is not found, the text itself is broken and says so elsewhere.
  if (diagnostic.getID() == clang::diag::err_pragma_attribute_no_pop_eof) {
    skip_notes_ = true;
    return;
  }
  if (!is_note) {
    skip_notes_ = is_error && note_repair(diagnostic);
    if (skip_notes_) {
      return;
    }
    unrepairable_ += is_error ? 1 : 0;
  }

  Diagnostic message;
  message.severity = is_error ? Severity::Error : is_note ? Severity::Note : Severity::Warning;
  llvm::SmallString<256> text;
  diagnostic.FormatDiagnostic(text);
  message.text = in_words_of_msl(text.str().str());
  std::string shown = message.text;
  if (message.severity == Severity::Warning) {
    const llvm::StringRef option =
        clang::DiagnosticIDs::getWarningOptionForDiag(diagnostic.getID());
    if (!option.empty()) {
      shown += " [-W" + option.str() + "]";
    }
  }

  bool of_stdlib = false;
  if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
    clang::SourceManager& sources = diagnostic.getSourceManager();
    of_stdlib = in_stdlib(sources, diagnostic.getLocation());
    const clang::PresumedLoc place = sources.getPresumedLoc(diagnostic.getLocation());
    if (!of_stdlib && place.isValid()) {
      message.file = place.getFilename();
      message.line = place.getLine();
      message.column = place.getColumn();
    }
    std::string rendered;
    llvm::raw_string_ostream stream(rendered);
    clang::TextDiagnostic printer(stream, language_, options_.get());
    printer.emitDiagnostic(clang::FullSourceLoc(diagnostic.getLocation(), sources), level, shown,
                           diagnostic.getRanges(), diagnostic.getFixItHints());
    stream.flush();
    message.rendered = in_words_of_msl(of_stdlib ? std::move(rendered) : without_stdlib(rendered));
  } else {
    message.rendered = (is_error ? "error: " : "warning: ") + shown + "\n";
  }

  if (!is_note) {
    settle_position();
    needs_position_ = of_stdlib;
    is_redefinition_ = diagnostic.getID() == clang::diag::ext_pp_macro_redef;
    collected_.push_back(std::move(message));
    return;
  }
  if (of_stdlib && is_redefinition_ && !collected_.empty()) {
    // A program may have its own idea of a macro that is no part of the language.
    collected_.pop_back();
    skip_notes_ = true;
    return;
  }
  if (collected_.empty() || of_stdlib) {
    return;
  }
  Diagnostic& owner = collected_.back();
  if (needs_position_) {
    // The user's line that led into the standard library is where the user has to look.
    last_way_in_ = std::move(message);
    settle_position();
    return;
  }
  owner.rendered += message.rendered;
}

// Clang tells the way into a template once, though more than one error may lie there.
void DiagnosticCollector::settle_position() {
  if (!needs_position_ || collected_.empty() || last_way_in_.file.empty()) {
    return;
  }
  Diagnostic& owner = collected_.back();
  owner.file = last_way_in_.file;
  owner.line = last_way_in_.line;
  owner.column = last_way_in_.column;
  owner.rendered = last_way_in_.rendered;
  replace_all(owner.rendered, "note: " + last_way_in_.text,
              (owner.severity == Severity::Error ? "error: " : "warning: ") + owner.text);
  needs_position_ = false;
}

std::vector<Diagnostic> DiagnosticCollector::take() {
  settle_position();
  needs_position_ = false;
  std::vector<Diagnostic> result;
  result.swap(collected_);
  unrepairable_ = 0;
  return result;
}

std::vector<Diagnostic> DiagnosticCollector::errors() const {
  std::vector<Diagnostic> result;
  for (const Diagnostic& each : collected_) {
    if (each.severity == Severity::Error) {
      result.push_back(each);
    }
  }
  return result;
}

}  // namespace pewter::compiler::msl
