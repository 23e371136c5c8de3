#include "pewter/compiler/msl/token_span.h"

namespace pewter::compiler::msl {
namespace {

using clang::Token;
namespace tok = clang::tok;

bool opens(const Token& token) {
  return token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace);
}

bool closes(const Token& token) {
  return token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace);
}

}  // namespace

std::size_t closing_bracket(const std::vector<Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t position = open; position < tokens.size(); ++position) {
    if (opens(tokens[position])) {
      ++depth;
    } else if ((closes(tokens[position]) && --depth == 0) || tokens[position].is(tok::eof)) {
      return position;
    }
  }
  return tokens.size() - 1;
}

std::size_t behind_template_arguments(const std::vector<Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t position = open; position < tokens.size(); ++position) {
    const Token& token = tokens[position];
    if (opens(token)) {
      position = closing_bracket(tokens, position);
    } else if (token.is(tok::less)) {
      ++depth;
    } else if (token.is(tok::greater)) {
      if (--depth == 0) {
        return position + 1;
      }
    } else if (token.is(tok::greatergreater)) {
      depth -= 2;
      if (depth <= 0) {
        return position + 1;
      }
    } else if (closes(token) || token.isOneOf(tok::semi, tok::ampamp, tok::pipepipe, tok::eof)) {
      return open;
    }
  }
  return open;
}

std::size_t behind_unary_expression(const std::vector<Token>& tokens, std::size_t begin) {
  std::size_t position = begin;
  while (tokens[position].isOneOf(tok::plus, tok::minus, tok::exclaim, tok::tilde, tok::star,
                                  tok::amp, tok::plusplus, tok::minusminus)) {
    ++position;
  }
  if (tokens[position].is(tok::l_paren)) {
    position = closing_bracket(tokens, position) + 1;
    // A parenthesis followed by the start of another operand is a cast, and so a prefix.
    if (tokens[position].isOneOf(tok::identifier, tok::numeric_constant, tok::l_paren)) {
      return behind_unary_expression(tokens, position);
    }
  } else {
    ++position;
    while (tokens[position].is(tok::coloncolon)) {
      position += 2;
    }
    if (tokens[position].is(tok::less)) {
      const std::size_t behind = behind_template_arguments(tokens, position);
      // `a < b` stays a comparison: template arguments are followed by a call or a scope.
      if (behind != position &&
          tokens[behind].isOneOf(tok::l_paren, tok::coloncolon, tok::l_brace)) {
        position = behind;
      }
    }
  }
  while (true) {
    if (tokens[position].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      position = closing_bracket(tokens, position) + 1;
    } else if (tokens[position].isOneOf(tok::period, tok::arrow)) {
      position += 2;
    } else if (tokens[position].isOneOf(tok::plusplus, tok::minusminus)) {
      ++position;
    } else {
      return position;
    }
  }
}

std::size_t behind_assignment_expression(const std::vector<Token>& tokens, std::size_t begin) {
  int conditionals = 0;
  for (std::size_t position = begin; position < tokens.size(); ++position) {
    const Token& token = tokens[position];
    if (opens(token)) {
      position = closing_bracket(tokens, position);
    } else if (token.is(tok::less)) {
      const std::size_t behind = behind_template_arguments(tokens, position);
      if (behind != position &&
          tokens[behind].isOneOf(tok::l_paren, tok::coloncolon, tok::l_brace)) {
        position = behind - 1;
      }
    } else if (token.is(tok::question)) {
      ++conditionals;
    } else if (token.is(tok::colon)) {
      if (conditionals == 0) {
        return position;
      }
      --conditionals;
    } else if (closes(token) || token.isOneOf(tok::comma, tok::semi, tok::eof)) {
      return position;
    }
  }
  return tokens.size() - 1;
}

}  // namespace pewter::compiler::msl
