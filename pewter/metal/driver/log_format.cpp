#include "pewter/metal/driver/log_format.h"

#include <array>
#include <bit>
#include <cctype>
#include <cstdio>

#include "pewter/base/log_abi.h"

namespace pewter::driver {
namespace {

using abi::LogArgument;

constexpr const char* kMissing = "<?>";

/// Takes arguments off the words of a message, one by one.
class Arguments {
 public:
  explicit Arguments(std::span<const std::uint64_t> words) : words_(words) {}

  struct Argument {
    LogArgument kind = LogArgument::Signed;
    std::uint64_t bits = 0;
  };

  /// Elements of the vector that comes next; 0 when the next argument is none.
  std::uint64_t take_vector() {
    if (words_.empty() || kind(words_[0]) != LogArgument::Vector) {
      return 0;
    }
    const std::uint64_t count = words_[0] >> 32;
    words_ = words_.subspan(1);
    return count;
  }

  bool take(Argument& argument) {
    if (words_.size() < 2) {
      return false;
    }
    argument = {kind(words_[0]), words_[1]};
    words_ = words_.subspan(2);
    return true;
  }

 private:
  static LogArgument kind(std::uint64_t word) {
    return static_cast<LogArgument>(static_cast<std::uint32_t>(word));
  }

  std::span<const std::uint64_t> words_;
};

/// `%-08.3v4hlf`: what stands between the percent sign and the letter.
struct Conversion {
  /// Flags, width and precision, checked to be nothing else.
  std::string layout;
  std::uint64_t vector_length = 0;
  char letter = 0;
};

/// Reads a conversion behind its percent sign; returns how many letters it has, 0 for none.
std::size_t read_conversion(std::string_view text, Conversion& conversion) {
  constexpr std::size_t kMostLayout = 16;
  std::size_t at = 0;
  while (at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0 ||
                              std::string_view("-+ #.").find(text[at]) != std::string_view::npos)) {
    conversion.layout += text[at++];
  }
  if (at < text.size() && text[at] == 'v') {
    ++at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 &&
           conversion.vector_length < 100) {
      conversion.vector_length =
          conversion.vector_length * 10 + static_cast<unsigned>(text[at++] - '0');
    }
  }
  while (at < text.size() && std::string_view("hljztL").find(text[at]) != std::string_view::npos) {
    ++at;
  }
  if (at >= text.size() || conversion.layout.size() > kMostLayout ||
      std::string_view("diouxXcfFeEgGaAsp").find(text[at]) == std::string_view::npos) {
    return 0;
  }
  conversion.letter = text[at];
  return at + 1;
}

template <typename Value>
std::string print(const Conversion& conversion, const char* length, Value value) {
  const std::string format = "%" + conversion.layout + length + conversion.letter;
  std::array<char, 512> text = {};
  const int letters = std::snprintf(text.data(), text.size(), format.c_str(), value);
  return letters < 0 ? std::string(kMissing) : std::string(text.data());
}

std::string print_argument(const Conversion& conversion, const Arguments::Argument& argument) {
  const bool is_floating = argument.kind == LogArgument::Floating;
  const double number = is_floating
                            ? std::bit_cast<float>(static_cast<std::uint32_t>(argument.bits))
                        : argument.kind == LogArgument::Signed
                            ? static_cast<double>(static_cast<std::int64_t>(argument.bits))
                            : static_cast<double>(argument.bits);
  switch (conversion.letter) {
    case 'd':
    case 'i':
      return print(
          conversion, "ll",
          is_floating ? static_cast<long long>(number) : static_cast<long long>(argument.bits));
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
      // A negative int prints as an unsigned int, not as a number of 64 bits.
      const bool is_narrow = argument.kind == LogArgument::Signed &&
                             static_cast<std::int64_t>(argument.bits) >= INT32_MIN &&
                             static_cast<std::int64_t>(argument.bits) < 0;
      return print(
          conversion, "ll",
          static_cast<unsigned long long>(is_floating ? static_cast<std::uint64_t>(number)
                                          : is_narrow ? static_cast<std::uint32_t>(argument.bits)
                                                      : argument.bits));
    }
    case 'c':
      return print(conversion, "", static_cast<int>(argument.bits & 0xff));
    case 's':
      return argument.kind == LogArgument::Text
                 ? print(conversion, "", reinterpret_cast<const char*>(argument.bits))
                 : std::string(kMissing);
    case 'p':
      return print(conversion, "", reinterpret_cast<const void*>(argument.bits));
    default:
      return print(conversion, "", number);
  }
}

}  // namespace

std::string format_message(std::string_view format, std::span<const std::uint64_t> words) {
  Arguments arguments(words);
  std::string result;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      result += format[at];
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == '%') {
      result += '%';
      ++at;
      continue;
    }
    Conversion conversion;
    const std::size_t length = read_conversion(format.substr(at + 1), conversion);
    if (length == 0) {
      result += '%';
      continue;
    }
    at += length;
    const std::uint64_t elements = arguments.take_vector();
    for (std::uint64_t element = 0; element < (elements > 0 ? elements : 1); ++element) {
      Arguments::Argument argument;
      result += element > 0 ? "," : "";
      result += arguments.take(argument) ? print_argument(conversion, argument) : kMissing;
    }
  }
  return result;
}

}  // namespace pewter::driver
