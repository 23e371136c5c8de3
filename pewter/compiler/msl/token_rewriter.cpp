#include "pewter/compiler/msl/token_rewriter.h"

#include <map>
#include <utility>

#include "pewter/compiler/msl/attributes.h"
#include "pewter/compiler/msl/token_span.h"

namespace pewter::compiler::msl {

using clang::SourceLocation;
using clang::Token;
namespace tok = clang::tok;

bool Repairs::merge(const Repairs& other) {
  const std::size_t before = casts.size() + conditionals.size();
  casts.insert(other.casts.begin(), other.casts.end());
  conditionals.insert(other.conditionals.begin(), other.conditionals.end());
  return casts.size() + conditionals.size() > before;
}

TokenRewriter::TokenRewriter(clang::Preprocessor& preprocessor, const Repairs& repairs)
    : preprocessor_(preprocessor), repairs_(repairs) {}

std::vector<Token> TokenRewriter::rewrite(std::vector<Token> tokens) {
  const Token end = tokens.back();
  tokens.insert(tokens.end(), kEndPadding - 1, end);
  drop_address_space_overloads(tokens);
  turn_array_parameters_into_pointers(tokens);
  if (!repairs_.empty()) {
    repair_casts(tokens);
    repair_conditionals(tokens);
  }
  Tokens translated = translate(tokens);
  translated.push_back(end);
  return translated;
}

bool TokenRewriter::is_address_space(const Token& token) const {
  if (token.isNot(tok::identifier)) {
    return false;
  }
  const llvm::StringRef name = token.getIdentifierInfo()->getName();
  return name == "device" || name == "threadgroup" || name == "constant" || name == "thread" ||
         name == "threadgroup_imageblock" || name == "ray_data" || name == "object_data";
}

// MSL overloads member functions by the address space of `this`; Clang, outside OpenCL, has only
// one `this`. An unqualified `this` accepts every space here, so one of several equal bodies serves
// them all.
void TokenRewriter::drop_address_space_overloads(Tokens& tokens) {
  struct Scope {
    std::size_t brace;
    std::size_t member_start;
  };
  std::vector<bool> dead(tokens.size(), false);
  std::vector<Scope> scopes = {{0, 0}};
  std::map<std::pair<std::size_t, std::string>, std::string> seen;  // (scope, signature) to body

  const auto text = [&](std::size_t begin, std::size_t end, std::size_t skipped) {
    std::string joined;
    for (std::size_t position = begin; position < end; ++position) {
      if (position != skipped) {
        joined += spelling(tokens[position]) + ' ';
      }
    }
    return joined;
  };

  for (std::size_t position = 0; tokens[position].isNot(tok::eof); ++position) {
    const Token& token = tokens[position];
    if (token.is(tok::l_brace)) {
      scopes.push_back({position, position + 1});
      continue;
    }
    if (token.is(tok::r_brace)) {
      if (scopes.size() > 1) {
        scopes.pop_back();
      }
      scopes.back().member_start = position + 1;
      continue;
    }
    const bool ends_access_label =
        token.is(tok::colon) && position > 0 &&
        tokens[position - 1].isOneOf(tok::kw_public, tok::kw_private, tok::kw_protected);
    if (token.is(tok::semi) || ends_access_label) {
      scopes.back().member_start = position + 1;
      continue;
    }
    if (!is_address_space(token) || position == 0) {
      continue;
    }

    // A qualifier of `this` stands behind the parameter list and before the body.
    std::size_t before = position;
    while (before > 0 && tokens[before - 1].isOneOf(tok::kw_const, tok::kw_volatile)) {
      --before;
    }
    if (before == 0 || tokens[before - 1].isNot(tok::r_paren)) {
      continue;
    }
    std::size_t body = position + 1;
    while (tokens[body].isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_noexcept)) {
      ++body;
    }
    if (!tokens[body].isOneOf(tok::l_brace, tok::semi, tok::colon, tok::equal, tok::arrow)) {
      continue;
    }
    dead[position] = true;

    std::size_t end = body;
    while (!tokens[end].isOneOf(tok::l_brace, tok::semi, tok::eof)) {
      end = tokens[end].is(tok::l_paren) ? closing_bracket(tokens, end) + 1 : end + 1;
    }
    if (tokens[end].is(tok::l_brace)) {
      // `: member{value}` is an initialiser, not yet the body.
      std::size_t next = closing_bracket(tokens, end) + 1;
      while (tokens[next].isOneOf(tok::comma, tok::l_brace)) {
        end = next;
        while (!tokens[end].isOneOf(tok::l_brace, tok::eof)) {
          end = tokens[end].is(tok::l_paren) ? closing_bracket(tokens, end) + 1 : end + 1;
        }
        next = closing_bracket(tokens, end) + 1;
      }
      end = next - 1;
    }
    const std::size_t start = scopes.back().member_start;
    const std::string signature = text(start, body, position);
    const std::string definition = text(body, end + 1, tokens.size());
    const auto [entry, fresh] = seen.try_emplace({scopes.back().brace, signature}, definition);
    if (fresh) {
      continue;
    }
    if (entry->second != definition) {
      clang::DiagnosticsEngine& diagnostics = preprocessor_.getDiagnostics();
      const unsigned id = diagnostics.getCustomDiagID(
          clang::DiagnosticsEngine::Error,
          "member functions that differ only in the address space of 'this' must have the same "
          "body in pewter");
      diagnostics.Report(token.getLocation(), id);
    }
    for (std::size_t doomed = start; doomed <= end; ++doomed) {
      dead[doomed] = true;
    }
    position = end;
    scopes.back().member_start = end + 1;
  }

  Tokens kept;
  kept.reserve(tokens.size());
  for (std::size_t position = 0; position < tokens.size(); ++position) {
    if (!dead[position]) {
      kept.push_back(tokens[position]);
    }
  }
  tokens.swap(kept);
}

// `constant T name[N]` as a parameter: Clang applies the address space to the parameter itself and
// refuses it.
void TokenRewriter::turn_array_parameters_into_pointers(Tokens& tokens) {
  std::map<std::size_t, bool> stars;  // position of the name, to whether it needs parentheses
  std::vector<bool> dead(tokens.size(), false);
  std::vector<tok::TokenKind> brackets;

  for (std::size_t position = 0; tokens[position].isNot(tok::eof); ++position) {
    const Token& token = tokens[position];
    if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      brackets.push_back(token.getKind());
    } else if (token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && !brackets.empty()) {
      brackets.pop_back();
    }
    if (brackets.empty() || brackets.back() != tok::l_paren || !is_address_space(token)) {
      continue;
    }
    for (std::size_t next = position + 1; next + 1 < tokens.size(); ++next) {
      const Token& candidate = tokens[next];
      if (candidate.is(tok::less)) {
        const std::size_t behind = behind_template_arguments(tokens, next);
        if (behind == next) {
          break;
        }
        next = behind - 1;
        continue;
      }
      if (candidate.is(tok::l_square)) {
        if (tokens[next + 1].is(tok::l_square) || tokens[next - 1].isNot(tok::identifier)) {
          break;
        }
        const std::size_t close = closing_bracket(tokens, next);
        const bool more_dimensions =
            tokens[close + 1].is(tok::l_square) && tokens[close + 2].isNot(tok::l_square);
        stars[next - 1] = more_dimensions;
        for (std::size_t doomed = next; doomed <= close; ++doomed) {
          dead[doomed] = true;
        }
        break;
      }
      if (!candidate.isOneOf(tok::identifier, tok::coloncolon) &&
          (candidate.isAnnotation() || candidate.getIdentifierInfo() == nullptr)) {
        break;
      }
    }
  }
  if (stars.empty()) {
    return;
  }

  Tokens result;
  result.reserve(tokens.size() + 4 * stars.size());
  for (std::size_t position = 0; position < tokens.size(); ++position) {
    if (dead[position]) {
      continue;
    }
    const auto star = stars.find(position);
    if (star == stars.end()) {
      result.push_back(tokens[position]);
      continue;
    }
    const SourceLocation place = tokens[position].getLocation();
    if (star->second) {
      result.push_back(punctuator(tok::l_paren, place));
    }
    result.push_back(punctuator(tok::star, place));
    result.push_back(tokens[position]);
    if (star->second) {
      result.push_back(punctuator(tok::r_paren, place));
    }
  }
  tokens.swap(result);
}

bool TokenRewriter::is_cast_repair(const Token& token) const {
  return repairs_.casts.count(token.getLocation().getRawEncoding()) != 0;
}

// Clang has no conversion between half and bfloat; __pewter_cast goes through float.
void TokenRewriter::repair_casts(Tokens& tokens) {
  // From the last to the first, so that positions before the one at hand stay valid.
  for (std::size_t position = tokens.size(); position-- > 0;) {
    const Token token = tokens[position];
    if (!is_cast_repair(token)) {
      continue;
    }
    const SourceLocation place = token.getLocation();
    Tokens replacement;
    std::size_t behind = position + 1;
    if (token.is(tok::kw_static_cast)) {
      replacement.push_back(word("__pewter_cast", place));
    } else if (token.is(tok::l_paren)) {
      const std::size_t close = closing_bracket(tokens, position);
      behind = behind_unary_expression(tokens, close + 1);
      replacement.push_back(word("__pewter_cast", place));
      replacement.push_back(punctuator(tok::less, place));
      replacement.insert(replacement.end(), tokens.begin() + position + 1, tokens.begin() + close);
      replacement.push_back(punctuator(tok::greater, place));
      replacement.push_back(punctuator(tok::l_paren, place));
      replacement.insert(replacement.end(), tokens.begin() + close + 1, tokens.begin() + behind);
      replacement.push_back(punctuator(tok::r_paren, place));
    } else {
      // A functional cast: the type ends where its parenthesis opens.
      while (tokens[behind].isOneOf(tok::coloncolon, tok::identifier, tok::less)) {
        behind =
            tokens[behind].is(tok::less) ? behind_template_arguments(tokens, behind) : behind + 1;
      }
      replacement.push_back(word("__pewter_cast", place));
      replacement.push_back(punctuator(tok::less, place));
      replacement.insert(replacement.end(), tokens.begin() + position, tokens.begin() + behind);
      replacement.push_back(punctuator(tok::greater, place));
    }
    tokens.erase(tokens.begin() + position, tokens.begin() + behind);
    tokens.insert(tokens.begin() + position, replacement.begin(), replacement.end());
  }
}

// Objects in different address spaces have no common type; values of them do.
void TokenRewriter::repair_conditionals(Tokens& tokens) {
  for (std::size_t position = tokens.size(); position-- > 0;) {
    if (tokens[position].isNot(tok::question) ||
        repairs_.conditionals.count(tokens[position].getLocation().getRawEncoding()) == 0) {
      continue;
    }
    const std::size_t colon = behind_assignment_expression(tokens, position + 1);
    if (tokens[colon].isNot(tok::colon)) {
      continue;
    }
    const std::size_t end = behind_assignment_expression(tokens, colon + 1);
    const SourceLocation place = tokens[position].getLocation();
    Tokens replacement = {tokens[position]};
    const auto wrap = [&](std::size_t from, std::size_t to) {
      replacement.push_back(word("__pewter_value", place));
      replacement.push_back(punctuator(tok::l_paren, place));
      replacement.insert(replacement.end(), tokens.begin() + from, tokens.begin() + to);
      replacement.push_back(punctuator(tok::r_paren, place));
    };
    wrap(position + 1, colon);
    replacement.push_back(tokens[colon]);
    wrap(colon + 1, end);
    tokens.erase(tokens.begin() + position, tokens.begin() + end);
    tokens.insert(tokens.begin() + position, replacement.begin(), replacement.end());
  }
}

namespace {

/// Whether the statement that holds `position` is a static_assert.
bool in_static_assert(const std::vector<Token>& tokens, std::size_t position) {
  while (position > 0 && !tokens[position].isOneOf(tok::semi, tok::l_brace, tok::r_brace)) {
    if (tokens[position].is(tok::kw_static_assert)) {
      return true;
    }
    --position;
  }
  return false;
}

}  // namespace

std::vector<Token> TokenRewriter::translate(const Tokens& tokens) {
  Tokens out;
  out.reserve(tokens.size() + tokens.size() / 4);
  std::vector<tok::TokenKind> brackets;

  for (std::size_t position = 0; tokens[position].isNot(tok::eof);) {
    const Token& token = tokens[position];
    if (token.isOneOf(tok::l_paren, tok::l_brace)) {
      brackets.push_back(token.getKind());
    } else if (token.isOneOf(tok::r_paren, tok::r_brace) && !brackets.empty()) {
      brackets.pop_back();
    }
    const bool starts_attributes =
        token.is(tok::l_square) && position + 2 < tokens.size() &&
        tokens[position + 1].is(tok::l_square) && !tokens[position + 2].isAnnotation() &&
        tokens[position + 2].getIdentifierInfo() != nullptr &&
        (position == 0 || tokens[position - 1].isNot(tok::kw_operator)) &&
        tokens[position + 3].isOneOf(tok::l_paren, tok::r_square, tok::comma, tok::coloncolon);
    if (starts_attributes) {
      const bool in_parameters = !brackets.empty() && brackets.back() == tok::l_paren;
      position = translate_attributes(tokens, position, in_parameters, out);
      continue;
    }

    // An explicit instantiation is only declared: its body is instantiated when a pipeline asks for
    // it.
    const bool is_explicit_instantiation =
        token.is(tok::kw_template) && tokens[position + 1].isNot(tok::less) &&
        (out.empty() || out.back().isOneOf(tok::semi, tok::r_brace, tok::l_brace) ||
         out.back().isAnnotation());
    if (is_explicit_instantiation) {
      out.push_back(word("extern", token.getLocation()));
      out.back().setKind(tok::kw_extern);
    }
    if (token.is(tok::string_literal)) {
      position = translate_string(tokens, position, out);
      continue;
    }
    if (token.isOneOf(tok::kw___func__, tok::kw___FUNCTION__, tok::kw___PRETTY_FUNCTION__)) {
      push_in_constant_memory(tokens, position, position + 1, out);
    } else if (token.is(tok::identifier)) {
      translate_identifier(token, out);
    } else if (token.is(tok::numeric_constant)) {
      translate_number(token, out);
    } else {
      out.push_back(token);
    }
    ++position;
  }
  return out;
}

void TokenRewriter::translate_identifier(Token token, Tokens& out) {
  const llvm::StringRef name = token.getIdentifierInfo()->getName();
  const SourceLocation place = token.getLocation();
  const auto become = [&](const char* text, tok::TokenKind kind) {
    Token changed = word(text, place);
    changed.setKind(kind);
    out.push_back(changed);
  };
  if (name == "device") {
    become("__global", tok::kw___global);
  } else if (name == "threadgroup") {
    become("__local", tok::kw___local);
  } else if (name == "constant") {
    become("const", tok::kw_const);
    become("__private", tok::kw___private);
  } else if (name == "thread") {
    return;
  } else if (name == "kernel") {
    push_attribute("kernel", {}, place, out);
  } else if (name == "vertex" || name == "fragment" || name == "ray_data" ||
             name == "object_data" || name == "threadgroup_imageblock") {
    clang::DiagnosticsEngine& diagnostics = preprocessor_.getDiagnostics();
    const unsigned id = diagnostics.getCustomDiagID(
        clang::DiagnosticsEngine::Error, "'%0' is not supported: pewter runs compute kernels only");
    diagnostics.Report(place, id) << name;
  } else {
    out.push_back(token);
  }
}

void TokenRewriter::translate_number(const Token& token, Tokens& out) {
  std::string text = spelling(token);
  const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
  const bool binary = text.size() > 1 && (text[1] == 'b' || text[1] == 'B') && text[0] == '0';
  const bool hexadecimal_float = hexadecimal && text.find_first_of("pP") != std::string::npos;
  const bool decimal = !hexadecimal && !binary;
  if (!decimal && !hexadecimal_float) {
    out.push_back(token);
    return;
  }
  const SourceLocation place = token.getLocation();
  const auto make_floating = [&](std::string& digits) {
    if (decimal && digits.find_first_of(".eE") == std::string::npos) {
      digits += ".0";
    }
  };
  if (text.back() == 'h' || text.back() == 'H') {
    text.pop_back();
    make_floating(text);
    out.push_back(literal(tok::numeric_constant, text + "f16", place));
    return;
  }
  const std::string ending = text.size() > 2 ? text.substr(text.size() - 2) : std::string();
  if (decimal && (ending == "bf" || ending == "BF")) {
    text.resize(text.size() - 2);
    make_floating(text);
    out.push_back(word("bfloat", place));
    out.push_back(punctuator(tok::l_paren, place));
    out.push_back(literal(tok::numeric_constant, text + "f", place));
    out.push_back(punctuator(tok::r_paren, place));
    return;
  }
  const bool floating = hexadecimal_float || text.find_first_of(".eE") != std::string::npos;
  // `f` is a digit of a hexadecimal number until its exponent begins.
  const std::size_t digits_end = hexadecimal_float ? text.find_first_of("pP") : 0;
  const bool suffixed = text.find_first_of("fFlL", digits_end) != std::string::npos;
  // A literal without suffix is float: MSL has no double.
  out.push_back(floating && !suffixed ? literal(tok::numeric_constant, text + "f", place) : token);
}

// A string literal lives in constant memory; Clang puts it in none. Where the language wants the
// literal itself (an array's initialiser, a linkage name, a message, its size), it stays as it is.
std::size_t TokenRewriter::translate_string(const Tokens& tokens,
                                            std::size_t position,
                                            Tokens& out) {
  std::size_t behind = position;
  while (tokens[behind].is(tok::string_literal)) {
    ++behind;
  }
  const auto before = [&](std::size_t distance, auto... kinds) {
    return position >= distance && (tokens[position - distance].is(kinds) || ...);
  };
  bool bare =
      before(1, tok::kw_extern, tok::kw_operator) ||
      (before(1, tok::equal) && before(2, tok::r_square)) ||
      (before(1, tok::l_paren) && before(2, tok::kw_asm, tok::kw_sizeof, tok::kw_static_assert));
  // The message is the second argument of static_assert.
  bare = bare || (before(1, tok::comma) && tokens[behind].is(tok::r_paren) &&
                  tokens[behind + 1].is(tok::semi) && in_static_assert(tokens, position));
  if (bare) {
    out.insert(out.end(), tokens.begin() + position, tokens.begin() + behind);
  } else {
    push_in_constant_memory(tokens, position, behind, out);
  }
  return behind;
}

void TokenRewriter::push_in_constant_memory(const Tokens& tokens,
                                            std::size_t begin,
                                            std::size_t end,
                                            Tokens& out) {
  const SourceLocation place = tokens[begin].getLocation();
  Token space = word("__private", place);
  space.setKind(tok::kw___private);
  Token constant = word("const", place);
  constant.setKind(tok::kw_const);
  Token character = word("char", place);
  character.setKind(tok::kw_char);
  const Token cast[] = {
      punctuator(tok::l_paren, place), punctuator(tok::l_paren, place), constant, space, character,
      punctuator(tok::star, place),    punctuator(tok::r_paren, place)};
  out.insert(out.end(), std::begin(cast), std::end(cast));
  out.insert(out.end(), tokens.begin() + begin, tokens.begin() + end);
  out.push_back(punctuator(tok::r_paren, place));
}

std::size_t TokenRewriter::translate_attributes(const Tokens& tokens,
                                                std::size_t position,
                                                bool in_parameters,
                                                Tokens& out) {
  const std::string first = spelling(tokens[position + 2]);
  const std::size_t behind_list = closing_bracket(tokens, position) + 1;
  if (tokens[position + 3].is(tok::coloncolon) || is_standard_attribute(first)) {
    out.insert(out.end(), tokens.begin() + position, tokens.begin() + behind_list);
    return behind_list;
  }
  std::size_t next = position + 2;
  while (next + 2 < behind_list) {
    const Token& token = tokens[next];
    if (token.isAnnotation() || token.getIdentifierInfo() == nullptr) {
      break;
    }
    const std::string name = spelling(token);
    const SourceLocation place = token.getLocation();
    ++next;
    Tokens arguments;
    if (tokens[next].is(tok::l_paren)) {
      const std::size_t close = closing_bracket(tokens, next);
      arguments.assign(tokens.begin() + next + 1, tokens.begin() + close);
      next = close + 1;
    }
    if (find_attribute(name) != nullptr) {
      // On a parameter the argument names a constant; as a string it survives template
      // instantiation.
      if (name == "function_constant" && in_parameters && arguments.size() == 1 &&
          arguments[0].is(tok::identifier)) {
        arguments[0] = literal(tok::string_literal, '"' + spelling(arguments[0]) + '"',
                               arguments[0].getLocation());
      }
      push_attribute(name, arguments, place, out);
    } else if (name == "user") {
      // `[[user(name)]]` only labels; nothing reads it in compute.
    } else {
      clang::DiagnosticsEngine& diagnostics = preprocessor_.getDiagnostics();
      const unsigned id = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                      "%select{unknown attribute '%1'|attribute "
                                                      "'%1' is not supported}0");
      diagnostics.Report(place, id) << (is_unsupported_attribute(name) ? 1 : 0) << name;
    }
    if (tokens[next].is(tok::comma)) {
      ++next;
    }
  }
  return behind_list;
}

void TokenRewriter::push_attribute(const std::string& name,
                                   const Tokens& arguments,
                                   SourceLocation place,
                                   Tokens& out) {
  Token introducer = word("__attribute__", place);
  introducer.setKind(tok::kw___attribute);
  out.push_back(introducer);
  out.push_back(punctuator(tok::l_paren, place));
  out.push_back(punctuator(tok::l_paren, place));
  out.push_back(word(kCarrierAttribute, place));
  out.push_back(punctuator(tok::l_paren, place));
  out.push_back(literal(tok::string_literal, '"' + name + '"', place));
  if (!arguments.empty()) {
    out.push_back(punctuator(tok::comma, place));
    out.insert(out.end(), arguments.begin(), arguments.end());
  }
  for (int closing = 0; closing < 3; ++closing) {
    out.push_back(punctuator(tok::r_paren, place));
  }
}

Token TokenRewriter::punctuator(tok::TokenKind kind, SourceLocation place) const {
  Token token;
  token.startToken();
  token.setKind(kind);
  token.setLocation(place);
  token.setLength(1);
  return token;
}

Token TokenRewriter::word(const char* text, SourceLocation place) const {
  Token token = punctuator(tok::identifier, place);
  token.setIdentifierInfo(preprocessor_.getIdentifierInfo(text));
  return token;
}

Token TokenRewriter::literal(tok::TokenKind kind,
                             const std::string& text,
                             SourceLocation place) const {
  Token token;
  token.startToken();
  token.setKind(kind);
  preprocessor_.CreateString(text, token, place, place);
  return token;
}

std::string TokenRewriter::spelling(const Token& token) const {
  return token.isAnnotation() ? std::string() : preprocessor_.getSpelling(token);
}

}  // namespace pewter::compiler::msl
