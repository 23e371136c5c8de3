#include "pewter/runtime/shader_source.h"

#include <fmt/format.h>

#include <cctype>
#include <iterator>
#include <set>

#include "pewter/runtime/embedded_file.h"

namespace pewter::runtime {
namespace {

// What Metal calls the text that newLibrary() is given.
constexpr std::string_view kProgramName = "program_source";

// Takes one word, or the blanks and comments before it, off the front of a line.
std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  return text;
}

bool take_word(std::string_view& text, std::string_view word) {
  text = skip_blanks(text);
  if (!text.starts_with(word)) {
    return false;
  }
  const std::string_view rest = text.substr(word.size());
  if (!rest.empty() &&
      (std::isalnum(static_cast<unsigned char>(rest.front())) != 0 || rest.front() == '_')) {
    return false;
  }
  text = rest;
  return true;
}

bool take_character(std::string_view& text, char character) {
  text = skip_blanks(text);
  if (text.empty() || text.front() != character) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// The name in `#include <name>` or `#include "name"`.
std::optional<std::string_view> included_name(std::string_view line) {
  if (!take_character(line, '#') || !take_word(line, "include")) {
    return std::nullopt;
  }
  line = skip_blanks(line);
  if (line.empty() || (line.front() != '<' && line.front() != '"')) {
    return std::nullopt;
  }
  const char closing = line.front() == '<' ? '>' : '"';
  const std::size_t end = line.find(closing, 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(line.substr(1, end - 1));
}

bool is_pragma_once(std::string_view line) {
  return take_character(line, '#') && take_word(line, "pragma") && take_word(line, "once");
}

// Follows block comments, in which directives mean nothing.
bool is_in_comment_after(std::string_view line, bool in_comment) {
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const std::string_view pair = line.substr(i, 2);
    if (in_comment && pair == "*/") {
      in_comment = false;
      ++i;
    } else if (!in_comment && pair == "/*") {
      in_comment = true;
      ++i;
    } else if (!in_comment && pair == "//") {
      return false;
    }
  }
  return in_comment;
}

class Expander {
 public:
  std::string expanded(std::string_view source) {
    append(source, kProgramName);
    return std::move(text_);
  }

 private:
  void append(std::string_view source, std::string_view name) {
    bool in_comment = false;
    std::size_t number = 0;
    while (!source.empty()) {
      const std::size_t end = source.find('\n');
      const std::string_view line = source.substr(0, end);
      source = end == std::string_view::npos ? std::string_view() : source.substr(end + 1);
      ++number;
      append_line(line, name, number, in_comment);
      if (end != std::string_view::npos) {
        text_ += '\n';
      }
      in_comment = is_in_comment_after(line, in_comment);
    }
  }

  void append_line(std::string_view line,
                   std::string_view name,
                   std::size_t number,
                   bool in_comment) {
    if (!in_comment && is_pragma_once(line)) {
      return;
    }
    const auto included = in_comment ? std::nullopt : included_name(line);
    const auto header = included ? shipped_header(*included) : std::nullopt;
    if (!header) {
      text_ += line;
      return;
    }
    if (!included_.insert(std::string(*included)).second) {
      return;
    }
    fmt::format_to(std::back_inserter(text_), "#line 1 \"{}\"\n", *included);
    append(*header, *included);
    fmt::format_to(std::back_inserter(text_), "\n#line {} \"{}\"", number + 1, name);
  }

  std::string text_;
  std::set<std::string> included_;
};

}  // namespace

std::optional<std::string_view> shipped_header(std::string_view name) {
  for (const EmbeddedFile* file = kShaderHeaders; file->name != nullptr; ++file) {
    if (name == file->name) {
      return std::string_view(file->bytes, file->size);
    }
  }
  return std::nullopt;
}

std::string expand_shader_source(std::string_view source) {
  return Expander().expanded(source);
}

}  // namespace pewter::runtime
