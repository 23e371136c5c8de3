#include "tests/fuzz/input/token_mutator.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "tests/fuzz/random.h"

namespace pewter::fuzz {
namespace {

constexpr std::string_view kWords[] = {
#define WORD(text) text,
#include "tests/fuzz/input/words.def"
#undef WORD
#define PEWTER_ATTRIBUTE(name, subject, least, most) "[[" #name "]]",
#define PEWTER_BUILTIN(name, width) "[[" #name "]]",
#include "pewter/compiler/msl/attributes.def"
};

using Tokens = std::vector<std::string_view>;
/// First and one past the last token.
using Range = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kMaxRange = 24;

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_blank(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

/// Past blanks and comments.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

std::size_t skip_string(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::min(at + 1, text.size());
}

std::size_t skip_token(std::string_view text, std::size_t at) {
  if (is_word(text[at])) {
    const bool is_number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    while (at < text.size() && (is_word(text[at]) || (is_number && text[at] == '.'))) {
      ++at;
    }
    return at;
  }
  if (text[at] == '"' || text[at] == '\'') {
    return skip_string(text, at);
  }
  for (const std::string_view pair : {"[[", "]]", "::", "->", "<<", ">>", "<=", ">=", "==", "!=",
                                      "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "##"}) {
    if (text.substr(at, 2) == pair) {
      return at + 2;
    }
  }
  return at + 1;
}

std::string_view bare(std::string_view token) {
  return token.substr(skip_blanks(token, 0));
}

class Mutation {
 public:
  Mutation(std::string_view text, unsigned seed) : tokens_(split_tokens(text)), random_(seed) {}

  void step() {
    if (tokens_.empty()) {
      insert(0, {word()});
      return;
    }
    switch (below(12)) {
      case 0:
        erase(any_range());
        break;
      case 1:
        erase(group());
        break;
      case 2:
        copy(any_range());
        break;
      case 3:
        copy(group());
        break;
      case 4:
        std::swap(tokens_[below(tokens_.size())], tokens_[below(tokens_.size())]);
        break;
      case 5:
        tokens_[below(tokens_.size())] = word();
        break;
      case 6:
        insert(below(tokens_.size()), {word()});
        break;
      case 7:
        tokens_[below(tokens_.size())] = tokens_[below(tokens_.size())];
        break;
      case 8:
        exchange_groups();
        break;
      case 9:
        replace_number();
        break;
      case 10:
        wrap(any_range());
        break;
      default:
        replace_same_kind();
        break;
    }
  }

  void splice(std::string_view other) {
    const Tokens others = split_tokens(other);
    if (others.empty()) {
      return;
    }
    Mutation source(other, static_cast<unsigned>(random_.bits()));
    const Range range = below(2) == 0 ? source.group() : source.any_range();
    insert(tokens_.empty() ? 0 : below(tokens_.size()),
           Tokens(others.begin() + static_cast<std::ptrdiff_t>(range.first),
                  others.begin() + static_cast<std::ptrdiff_t>(range.second)));
  }

  std::size_t below(std::size_t limit) { return random_.below(limit); }

  std::string text() const {
    std::string joined;
    for (const std::string_view token : tokens_) {
      // Words that were put side by side must not become one.
      if (!joined.empty() && !token.empty() && is_word(joined.back()) && is_word(token.front())) {
        joined += ' ';
      }
      joined += token;
    }
    return joined;
  }

 private:
  std::string_view word() { return kWords[below(std::size(kWords))]; }

  Range any_range() {
    const std::size_t first = below(tokens_.size());
    return {first, std::min(tokens_.size(), first + 1 + below(kMaxRange))};
  }

  /// From an opening bracket to the one that closes it; any range when there is none.
  Range group() {
    const std::size_t start = below(tokens_.size());
    for (std::size_t step = 0; step < tokens_.size(); ++step) {
      const std::size_t first = (start + step) % tokens_.size();
      const std::string_view open = bare(tokens_[first]);
      if (open != "(" && open != "{" && open != "[[" && open != "<") {
        continue;
      }
      const std::string_view close = open == "("   ? ")"
                                     : open == "{" ? "}"
                                     : open == "<" ? ">"
                                                   : "]]";
      std::size_t depth = 0;
      for (std::size_t at = first; at < tokens_.size(); ++at) {
        const std::string_view token = bare(tokens_[at]);
        depth += token == open ? 1 : 0;
        if (token == close && --depth == 0) {
          return {first, at + 1};
        }
      }
    }
    return any_range();
  }

  Tokens taken(Range range) const {
    return {tokens_.begin() + static_cast<std::ptrdiff_t>(range.first),
            tokens_.begin() + static_cast<std::ptrdiff_t>(range.second)};
  }

  void insert(std::size_t at, const Tokens& added) {
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
  }

  void erase(Range range) {
    tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(range.first),
                  tokens_.begin() + static_cast<std::ptrdiff_t>(range.second));
  }

  void copy(Range range) {
    insert(below(2) == 0 ? range.second : below(tokens_.size()), taken(range));
  }

  void exchange_groups() {
    Range left = group();
    Range right = group();
    if (left.first > right.first) {
      std::swap(left, right);
    }
    if (left.second > right.first) {
      return;
    }
    const Tokens first = taken(left);
    const Tokens second = taken(right);
    erase(right);
    insert(right.first, first);
    erase(left);
    insert(left.first, second);
  }

  void replace_number() {
    constexpr std::string_view kNumbers[] = {"0",
                                             "1",
                                             "-1",
                                             "2",
                                             "3",
                                             "7",
                                             "8",
                                             "31",
                                             "32",
                                             "33",
                                             "64",
                                             "255",
                                             "1024",
                                             "65536",
                                             "1u",
                                             "0.5f",
                                             "1e30",
                                             "0x7fffffff",
                                             "2147483648u",
                                             "-0.0",
                                             "(1 << 31)",
                                             "'a'",
                                             "0xffffffffffffffff",
                                             "1.0h",
                                             "4294967295"};
    replace_where([](std::string_view token) { return token[0] >= '0' && token[0] <= '9'; },
                  kNumbers[below(std::size(kNumbers))]);
  }

  /// A name by another name of the text, a sign by another sign.
  void replace_same_kind() {
    const std::string_view model = bare(tokens_[below(tokens_.size())]);
    if (!model.empty()) {
      const bool is_name = is_word(model[0]);
      replace_where([&](std::string_view token) { return is_word(token[0]) == is_name; }, model);
    }
  }

  template <typename Test>
  void replace_where(const Test& test, std::string_view text) {
    const std::size_t start = below(tokens_.size());
    for (std::size_t step = 0; step < tokens_.size(); ++step) {
      std::string_view& token = tokens_[(start + step) % tokens_.size()];
      if (!bare(token).empty() && test(bare(token))) {
        token = text;
        return;
      }
    }
  }

  void wrap(Range range) {
    constexpr std::pair<std::string_view, std::string_view> kWraps[] = {{"(", ")"},
                                                                        {"{", "}"},
                                                                        {"[[", "]]"},
                                                                        {"if (", ") {}"},
                                                                        {"float4(", ")"},
                                                                        {"for (;;) {", "}"},
                                                                        {"template <", ">"},
                                                                        {"sizeof(", ")"},
                                                                        {"metal::vec<", ">"},
                                                                        {"[&] {", "}()"},
                                                                        {"(device void*)(", ")"}};
    const auto& [before, behind] = kWraps[below(std::size(kWraps))];
    insert(range.second, {behind});
    insert(range.first, {before});
  }

  Tokens tokens_;
  Random random_;
};

}  // namespace

std::vector<std::string_view> split_tokens(std::string_view text) {
  Tokens tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t start = at;
    at = skip_blanks(text, at);
    at = at < text.size() ? skip_token(text, at) : at;
    tokens.push_back(text.substr(start, at - start));
  }
  return tokens;
}

std::string mutate_tokens(std::string_view text, unsigned seed) {
  Mutation mutation(text, seed);
  const std::size_t steps = 1 + mutation.below(4);
  for (std::size_t step = 0; step < steps; ++step) {
    mutation.step();
  }
  return mutation.text();
}

std::string splice_tokens(std::string_view text, std::string_view other, unsigned seed) {
  Mutation mutation(text, seed);
  mutation.splice(other);
  return mutation.text();
}

}  // namespace pewter::fuzz
