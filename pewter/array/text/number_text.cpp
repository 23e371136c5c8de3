#include "pewter/array/text/number_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <string_view>

namespace pewter::text {
namespace {

/// "1.25e-05" taken apart.
Digits parsed(std::string_view text) {
  Digits result;
  if (text.front() == '-') {
    result.is_negative = true;
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  for (const char letter : text.substr(0, e)) {
    if (letter != '.') {
      result.digits += letter;
    }
  }
  const std::string_view exponent = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  while (result.digits.size() > 1 && result.digits.back() == '0') {
    result.digits.pop_back();
  }
  return result;
}

float rounded_to(double number, Dtype dtype) {
  const auto value = static_cast<float>(number);
  return dtype == Dtype::Float16 ? static_cast<float>(Float16(value))
                                 : static_cast<float>(BFloat16(value));
}

void drop_zeros(std::string& text) {
  while (text.back() == '0') {
    text.pop_back();
  }
}

}  // namespace

Digits shortest_digits(float number, Dtype dtype) {
  if (dtype == Dtype::Float16 || dtype == Dtype::BFloat16) {
    for (int precision = 0; precision < 8; ++precision) {
      const std::string text = fmt::format("{:.{}e}", number, precision);
      double back = 0;
      std::from_chars(text.data(), text.data() + text.size(), back);
      if (rounded_to(back, dtype) == number) {
        return parsed(text);
      }
    }
  }
  std::array<char, 32> text = {};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  return parsed(std::string_view(text.data(), static_cast<std::size_t>(end.ptr - text.data())));
}

std::string positional(float number, Dtype dtype, int precision, bool has_exact_whole) {
  const Digits shortest = shortest_digits(number, dtype);
  const auto count = static_cast<int>(shortest.digits.size());
  // What has more digits than may be shown is rounded from the number itself, not from its digits.
  if (count - 1 - shortest.exponent > precision) {
    std::string text = fmt::format("{:.{}f}", number, precision);
    if (precision == 0) {
      return text + '.';
    }
    drop_zeros(text);
    return text;
  }
  std::string text = shortest.is_negative ? "-" : "";
  if (shortest.exponent < 0) {
    text += "0." + std::string(static_cast<std::size_t>(-shortest.exponent - 1), '0');
    return text + (shortest.digits == "0" ? "" : shortest.digits);
  }
  std::string digits = shortest.digits;
  const auto whole = static_cast<std::size_t>(shortest.exponent) + 1;
  if (digits.size() < whole) {
    if (has_exact_whole) {
      return fmt::format("{:.0f}.", number);
    }
    digits.append(whole - digits.size(), '0');
  }
  return text + digits.substr(0, whole) + '.' + digits.substr(whole);
}

std::string scientific(float number, Dtype dtype, int precision, int fraction_digits) {
  Digits shortest = shortest_digits(number, dtype);
  if (static_cast<int>(shortest.digits.size()) - 1 > precision) {
    shortest = parsed(fmt::format("{:.{}e}", number, precision));
  }
  // Digits beyond those that are needed are the number's own, not zeros.
  if (fraction_digits >= 0 && static_cast<int>(shortest.digits.size()) <= fraction_digits) {
    shortest = parsed(fmt::format("{:.{}e}", number, fraction_digits));
    shortest.digits.resize(static_cast<std::size_t>(fraction_digits) + 1, '0');
  }
  return fmt::format("{}{}.{}e{}{:02}", shortest.is_negative ? "-" : "", shortest.digits[0],
                     shortest.digits.substr(1), shortest.exponent < 0 ? '-' : '+',
                     std::abs(shortest.exponent));
}

std::string lone_number(float number, Dtype dtype) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  const double magnitude = std::abs(static_cast<double>(number));
  if (magnitude == 0 || (magnitude < 1e16 && magnitude >= 1e-4)) {
    constexpr int kAll = 64;
    std::string text = positional(number, dtype, kAll, false);
    return text.back() == '.' ? text + '0' : text;
  }
  constexpr int kAll = 16;
  std::string text = scientific(number, dtype, kAll);
  const std::size_t bare = text.find(".e");
  return bare == std::string::npos ? text : text.erase(bare, 1);
}

std::string lone_complex(std::complex<float> number) {
  const auto part = [](float value, bool has_plus) {
    std::string text = lone_number(value, Dtype::Float32);
    if (text.ends_with(".0")) {
      text.erase(text.size() - 2);
    }
    return has_plus && text[0] != '-' ? '+' + text : text;
  };
  if (number.real() == 0 && !std::signbit(number.real())) {
    return part(number.imag(), false) + 'j';
  }
  return '(' + part(number.real(), false) + part(number.imag(), true) + "j)";
}

FloatColumn::FloatColumn(const std::vector<float>& numbers,
                         Dtype dtype,
                         int precision,
                         bool has_plus)
    : dtype_(dtype), precision_(precision), has_plus_(has_plus) {
  double greatest = 0;
  double least = 0;
  bool has_negative_infinity = has_plus;
  bool has_special = false;
  for (const float number : numbers) {
    const double magnitude = std::abs(static_cast<double>(number));
    if (!std::isfinite(number)) {
      has_special = true;
      has_negative_infinity = has_negative_infinity || (std::isinf(number) && number < 0);
    } else if (magnitude > 0) {
      greatest = std::max(greatest, magnitude);
      least = least == 0 ? magnitude : std::min(least, magnitude);
    }
  }
  // NumPy divides in the numbers' own type: of 700 and 0.7 there it is 1000, here a little more.
  const auto ratio = greatest > 0 ? static_cast<float>(greatest) / static_cast<float>(least) : 0.0F;
  const float own_ratio = dtype == Dtype::Float16 ? static_cast<float>(Float16(ratio)) : ratio;
  is_scientific_ = greatest >= 1e8 || (greatest > 0 && (least < 1e-4 || own_ratio > 1000));

  std::size_t exponent_size = 0;
  for (const float number : numbers) {
    if (!std::isfinite(number)) {
      continue;
    }
    const std::string text = signed_text(number);
    const std::size_t point = text.find('.');
    const std::size_t e = std::min(text.find('e'), text.size());
    left_ = std::max(left_, point);
    right_ = std::max(right_, e - point - 1);
    exponent_size = std::max(exponent_size, text.size() - e);
  }
  if (is_scientific_) {
    fraction_digits_ = static_cast<int>(right_);
    right_ += exponent_size;
  }
  if (has_special) {
    const std::size_t widest = has_negative_infinity ? 4 : 3;
    const std::size_t rest = right_ + 1;
    left_ = std::max(left_, widest > rest ? widest - rest : 0);
  }
}

std::string FloatColumn::signed_text(float number) const {
  const std::string text = is_scientific_ ? scientific(number, dtype_, precision_)
                                          : positional(number, dtype_, precision_);
  return has_plus_ && text.front() != '-' ? '+' + text : text;
}

std::string FloatColumn::operator()(float number) const {
  if (!std::isfinite(number)) {
    std::string text = std::isnan(number) ? "nan" : "inf";
    if (std::isinf(number) && number < 0) {
      text = '-' + text;
    } else if (has_plus_) {
      text = '+' + text;
    }
    const std::size_t width = left_ + right_ + 1;
    return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
  }
  if (is_scientific_) {
    std::string text = scientific(number, dtype_, precision_, fraction_digits_);
    if (has_plus_ && text.front() != '-') {
      text = '+' + text;
    }
    const std::size_t point = text.find('.');
    return std::string(left_ - point, ' ') + text;
  }
  std::string text = signed_text(number);
  const std::size_t point = text.find('.');
  text.append(right_ - (text.size() - point - 1), ' ');
  return std::string(left_ - point, ' ') + text;
}

}  // namespace pewter::text
