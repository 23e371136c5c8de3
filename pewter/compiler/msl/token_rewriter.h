#pragma once

#include <set>
#include <string>
#include <vector>

#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/Token.h"

namespace pewter::compiler::msl {

/// Places where Clang refused something that MSL allows, found by an earlier parse of the same
/// text.
///
/// Keyed by the raw source location of a token; the same text lexes to the same locations.
struct Repairs {
  /// First token of an explicit cast between half and bfloat.
  std::set<unsigned> casts;
  /// The `?` of a conditional whose operands are objects in different address spaces.
  std::set<unsigned> conditionals;

  bool empty() const { return casts.empty() && conditionals.empty(); }

  /// Adds those of `other`; false when all were known already.
  bool merge(const Repairs& other);
};

/// Turns preprocessed MSL tokens into C++ tokens that stock Clang parses.
///
/// Runs between preprocessor and parser, because MSL's syntax differs where no plug-in reaches:
/// `[[...]]` on explicit instantiations, address spaces as keywords, `h` and `bf` literals, member
/// functions overloaded by address space. What the type system has to decide is not guessed here:
/// see Repairs.
class TokenRewriter {
 public:
  TokenRewriter(clang::Preprocessor& preprocessor, const Repairs& repairs);

  /// Rewrites a whole translation unit, the end-of-file token included. Reports unknown attributes
  /// at their place.
  std::vector<clang::Token> rewrite(std::vector<clang::Token> tokens);

 private:
  using Tokens = std::vector<clang::Token>;

  void drop_address_space_overloads(Tokens& tokens);
  void turn_array_parameters_into_pointers(Tokens& tokens);
  void repair_casts(Tokens& tokens);
  void repair_conditionals(Tokens& tokens);
  Tokens translate(const Tokens& tokens);

  void translate_identifier(clang::Token token, Tokens& out);
  void translate_number(const clang::Token& token, Tokens& out);
  /// Translates the string literals from `position` on; returns the position behind them.
  std::size_t translate_string(const Tokens& tokens, std::size_t position, Tokens& out);
  /// Appends a string as a pointer to constant memory.
  void push_in_constant_memory(const Tokens& tokens,
                               std::size_t begin,
                               std::size_t end,
                               Tokens& out);
  /// Translates the attribute list whose `[` stands at `position`; returns the position behind it.
  std::size_t translate_attributes(const Tokens& tokens,
                                   std::size_t position,
                                   bool in_parameters,
                                   Tokens& out);

  void push_attribute(const std::string& name,
                      const Tokens& arguments,
                      clang::SourceLocation place,
                      Tokens& out);
  bool is_address_space(const clang::Token& token) const;
  bool is_cast_repair(const clang::Token& token) const;
  clang::Token punctuator(clang::tok::TokenKind kind, clang::SourceLocation place) const;
  clang::Token word(const char* text, clang::SourceLocation place) const;
  clang::Token literal(clang::tok::TokenKind kind,
                       const std::string& text,
                       clang::SourceLocation place) const;
  std::string spelling(const clang::Token& token) const;

  clang::Preprocessor& preprocessor_;
  const Repairs& repairs_;
};

}  // namespace pewter::compiler::msl
