#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pewter::fuzz {

/// Splits a text into tokens, each with the blanks and comments before it; together they are the
/// text. Any bytes will do.
std::vector<std::string_view> split_tokens(std::string_view text);

/// A text with a few tokens, or balanced groups of them, left out, doubled, moved, exchanged or
/// replaced by words of the language. Equal seeds give equal texts.
std::string mutate_tokens(std::string_view text, unsigned seed);

/// A text with a part of another one in it.
std::string splice_tokens(std::string_view text, std::string_view other, unsigned seed);

}  // namespace pewter::fuzz
