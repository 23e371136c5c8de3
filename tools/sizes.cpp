#include "tools/sizes.h"

#include <charconv>
#include <limits>

#include "tools/failure.h"
#include "tools/split.h"

namespace pewter::tools {
namespace {

std::uint64_t suffix_factor(char letter) {
  switch (letter) {
    case 'k':
    case 'K':
      return 1ULL << 10;
    case 'm':
    case 'M':
      return 1ULL << 20;
    case 'g':
    case 'G':
      return 1ULL << 30;
    default:
      return 1;
  }
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  const std::uint64_t factor = text.empty() ? 1 : suffix_factor(text.back());
  std::string_view digits = text;
  if (factor != 1) {
    digits.remove_suffix(1);
  }
  std::uint64_t number = 0;
  const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool too_large = code == std::errc::result_out_of_range ||
                         number > std::numeric_limits<std::uint64_t>::max() / factor;
  if (too_large) {
    usage_error("{} '{}' is too large", what, text);
  }
  if (code != std::errc() || stop != digits.data() + digits.size()) {
    usage_error("{} '{}' is not a whole number with an optional K, M or G", what, text);
  }
  return number * factor;
}

std::vector<std::uint64_t> parse_shape(std::string_view text,
                                       std::string_view what,
                                       std::size_t max_dimensions) {
  std::vector<std::uint64_t> shape;
  std::uint64_t product = 1;
  for (const std::string_view part : split(text, 'x')) {
    shape.push_back(parse_count(part, what));
    if (shape.back() == 0) {
      usage_error("{} '{}' has a dimension of 0", what, text);
    }
    product = checked_product(product, shape.back(), what);
  }
  if (shape.size() > max_dimensions) {
    usage_error("{} '{}' has {} dimensions, at most {} are possible", what, text, shape.size(),
                max_dimensions);
  }
  return shape;
}

std::uint64_t element_count(const std::vector<std::uint64_t>& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t length : shape) {
    product *= length;
  }
  return product;
}

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    usage_error("{} of {} x {} is too large", what, a, b);
  }
  return product;
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string format_shape(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t length : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(length);
  }
  return text;
}

}  // namespace pewter::tools
