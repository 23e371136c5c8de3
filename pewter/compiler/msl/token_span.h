#pragma once

#include <cstddef>
#include <vector>

#include "clang/Lex/Token.h"

/// Finding the ends of things in a row of tokens, which ends with kEndPadding end-of-file tokens:
/// whatever a broken text looks like, a few positions behind an end are still there to look at.
namespace pewter::compiler::msl {

inline constexpr std::size_t kEndPadding = 16;

/// Position of the bracket that closes the one at `open`; the first end of file when it is never
/// closed.
std::size_t closing_bracket(const std::vector<clang::Token>& tokens, std::size_t open);

/// Position behind the `>` that closes the `<` at `open`; `open` when it is no template argument
/// list.
std::size_t behind_template_arguments(const std::vector<clang::Token>& tokens, std::size_t open);

/// Position behind the unary expression that starts at `begin`: prefix operators, a primary,
/// postfix operators.
std::size_t behind_unary_expression(const std::vector<clang::Token>& tokens, std::size_t begin);

/// Position behind the assignment expression that starts at `begin`.
std::size_t behind_assignment_expression(const std::vector<clang::Token>& tokens,
                                         std::size_t begin);

}  // namespace pewter::compiler::msl
