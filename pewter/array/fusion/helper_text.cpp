#include "pewter/array/fusion/helper_text.h"

#include <cctype>
#include <unordered_set>
#include <vector>

#include "pewter/array/ops/kernel_source.h"

namespace pewter::fusion {
namespace {

using Words = std::unordered_set<std::string_view>;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Every identifier of a text; with `calls`, those in front of a parenthesis or an angle bracket.
Words words_of(std::string_view text, bool calls) {
  Words words;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t begin = i;
    while (i < text.size() && is_word(text[i])) {
      ++i;
    }
    if (i > begin && (!calls || (i < text.size() && (text[i] == '(' || text[i] == '<')))) {
      words.insert(text.substr(begin, i - begin));
    }
    i += i == begin ? 1 : 0;
  }
  return words;
}

struct Paragraph {
  std::string_view text;
  Words defines;
  Words mentions;
  /// Wanted by every kernel: includes and the like.
  bool is_always_needed = false;
};

/// The names that a paragraph defines stand in the lines that begin with "inline".
Words defined_in(std::string_view text) {
  Words names;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t parenthesis = line.find('(');
    if (line.starts_with("inline ") && parenthesis != std::string_view::npos) {
      std::size_t first = parenthesis;
      while (first > 0 && is_word(line[first - 1])) {
        --first;
      }
      names.insert(line.substr(first, parenthesis - first));
    }
    begin = end + 1;
  }
  return names;
}

const std::vector<Paragraph>& paragraphs() {
  // Never destroyed: arrays may be computed by destructors of static objects.
  static const auto* const paragraphs = [] {
    auto* const made = new std::vector<Paragraph>;
    const std::string_view all = ops::kernel_source("elementwise.metal");
    std::size_t begin = 0;
    while (begin < all.size()) {
      const std::size_t end = std::min(all.find("\n\n", begin), all.size());
      Paragraph paragraph;
      paragraph.text = all.substr(begin, end - begin);
      paragraph.defines = defined_in(paragraph.text);
      paragraph.mentions = words_of(paragraph.text, true);
      paragraph.is_always_needed = paragraph.text.find("#include") != std::string_view::npos;
      made->push_back(std::move(paragraph));
      begin = end + 2;
    }
    return made;
  }();
  return *paragraphs;
}

bool mentions_any(const Words& words, const Words& names) {
  for (const std::string_view name : names) {
    if (words.contains(name)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string helpers_for(std::string_view kernel) {
  const std::vector<Paragraph>& all = paragraphs();
  std::vector<bool> is_needed(all.size(), false);
  Words words = words_of(kernel, true);
  // A paragraph may need others: again until nothing is added.
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_needed[i] && (all[i].is_always_needed || mentions_any(words, all[i].defines))) {
        is_needed[i] = true;
        words.insert(all[i].mentions.begin(), all[i].mentions.end());
        grows = true;
      }
    }
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_needed[i]) {
      text += all[i].text;
      text += "\n\n";
    }
  }
  return text;
}

}  // namespace pewter::fusion
