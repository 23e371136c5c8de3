#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pewter/compiler/compiler.h"

namespace pewter::compiler::msl {

/// The language version, `major << 16 | minor`, of texts that do not ask for one.
inline constexpr std::uint32_t kDefaultLanguageVersion = (3U << 16) | 2U;

/// What Clang is told of every text, the standard library included.
std::vector<std::string> common_arguments();

/// What it is told of a user's text besides: warnings, include folders, freedom in arithmetic.
std::vector<std::string> text_arguments(const LibraryOptions& options);

/// Macros of the language and of the options.
std::string macro_lines(const LibraryOptions& options);

/// `#line` for the first line of the user's text.
std::string first_line_marker(const LibraryOptions& options);

/// The lines that stand before the user's text, up to first_line_marker().
std::string text_before(const LibraryOptions& options);

/// The lines that stand behind it.
std::string text_behind();

}  // namespace pewter::compiler::msl
