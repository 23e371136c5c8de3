#pragma once

#include <Foundation/Foundation.hpp>
#include <string>

namespace pewter::test {

/// An autoreleased NS::String with that text.
NS::String* string(const std::string& text);

/// The text of a string or the description of an error; empty for null.
std::string text(const NS::String* string);
std::string text(const NS::Error* error);

/// The description of an error up to the first line break; empty for null.
std::string first_line(const NS::Error* error);

/// `text` up to the first line break.
std::string first_line(const std::string& text);

}  // namespace pewter::test
