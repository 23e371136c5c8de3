#include "tests/support/text.h"

namespace pewter::test {

NS::String* string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

std::string text(const NS::String* string) {
  return string == nullptr ? std::string() : std::string(string->utf8String());
}

std::string text(const NS::Error* error) {
  return error == nullptr ? std::string() : text(error->localizedDescription());
}

std::string first_line(const NS::Error* error) {
  return first_line(text(error));
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace pewter::test
