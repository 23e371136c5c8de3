#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Conversions between UTF-8, which strings are kept in, and what programs hand over.
namespace pewter::foundation {

bool is_utf8(std::string_view bytes);

std::string latin1_to_utf8(std::string_view bytes);

/// Lone surrogates become U+FFFD.
std::string utf16_to_utf8(std::u16string_view units);

/// `bytes` must be valid UTF-8.
std::u16string utf8_to_utf16(std::string_view bytes);

/// UTF-16 units that the valid UTF-8 text takes.
std::size_t utf16_length(std::string_view bytes);

}  // namespace pewter::foundation
