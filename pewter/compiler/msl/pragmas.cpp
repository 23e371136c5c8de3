#include "pewter/compiler/msl/pragmas.h"

#include <memory>
#include <string>
#include <vector>

#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Pragma.h"

namespace pewter::compiler::msl {
namespace {

/// Clang's pragmas for a mode; none for words that are none.
std::vector<std::string> clang_pragmas(llvm::StringRef setting, llvm::StringRef value) {
  if (setting == "contract" && (value == "off" || value == "on" || value == "fast")) {
    return {"clang fp contract(" + value.str() + ")"};
  }
  if (setting == "math_mode" && value == "safe") {
    return {"float_control(precise, on)", "clang fp contract(off)"};
  }
  if (setting == "math_mode" && (value == "relaxed" || value == "fast")) {
    return {"clang fp contract(fast) reassociate(on) reciprocal(on)"};
  }
  return {};
}

class ArithmeticPragma : public clang::PragmaHandler {
 public:
  ArithmeticPragma() : PragmaHandler("fp") {}

  void HandlePragma(clang::Preprocessor& preprocessor,
                    clang::PragmaIntroducer,
                    clang::Token& first) override {
    const clang::SourceLocation place = first.getLocation();
    // setting ( value )
    clang::Token token;
    std::string words[2];
    constexpr clang::tok::TokenKind kShape[] = {clang::tok::identifier, clang::tok::l_paren,
                                                clang::tok::identifier, clang::tok::r_paren};
    bool good = true;
    for (std::size_t position = 0; position < 4 && good; ++position) {
      preprocessor.LexUnexpandedToken(token);
      good = token.is(kShape[position]);
      if (good && position % 2 == 0) {
        words[position / 2] = token.getIdentifierInfo()->getName().str();
      }
    }
    const auto meaning = good ? clang_pragmas(words[0], words[1]) : std::vector<std::string>();
    while (token.isNot(clang::tok::eod)) {
      preprocessor.LexUnexpandedToken(token);
    }
    if (meaning.empty()) {
      clang::DiagnosticsEngine& diagnostics = preprocessor.getDiagnostics();
      diagnostics.Report(place, diagnostics.getCustomDiagID(
                                    clang::DiagnosticsEngine::Warning,
                                    "'#pragma METAL fp' takes math_mode(safe), math_mode(relaxed), "
                                    "math_mode(fast), contract(off), contract(on) or "
                                    "contract(fast); ignored"));
      return;
    }
    enter(preprocessor, meaning, place);
  }

 private:
  /// Has the preprocessor read `_Pragma("text")` for each text.
  static void enter(clang::Preprocessor& preprocessor,
                    const std::vector<std::string>& texts,
                    clang::SourceLocation place) {
    constexpr clang::tok::TokenKind kKinds[] = {clang::tok::identifier, clang::tok::l_paren,
                                                clang::tok::string_literal, clang::tok::r_paren};
    const std::size_t count = texts.size() * std::size(kKinds);
    auto tokens = std::make_unique<clang::Token[]>(count);
    for (std::size_t position = 0; position < count; ++position) {
      clang::Token& token = tokens[position];
      token.startToken();
      token.setKind(kKinds[position % std::size(kKinds)]);
      token.setLocation(place);
      if (token.is(clang::tok::identifier)) {
        token.setIdentifierInfo(preprocessor.getIdentifierInfo("_Pragma"));
      } else if (token.is(clang::tok::string_literal)) {
        preprocessor.CreateString('"' + texts[position / std::size(kKinds)] + '"', token, place,
                                  place);
      }
    }
    preprocessor.EnterTokenStream(std::move(tokens), static_cast<unsigned>(count),
                                  /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
  }
};

}  // namespace

void define_pragmas(clang::Preprocessor& preprocessor) {
  preprocessor.AddPragmaHandler("METAL", new ArithmeticPragma);
}

}  // namespace pewter::compiler::msl
