#include "tools/statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/sizes.h"

namespace pewter::tools {
namespace {

constexpr std::size_t kBins = 10;
constexpr std::size_t kBarWidth = 40;
constexpr std::size_t kShown = 8;

template <typename Use>
void for_each_finite(Element element, std::span<const std::byte> bytes, Use&& use) {
  const std::size_t step = ValueType{element}.element_bytes();
  for (std::size_t offset = 0; offset + step <= bytes.size(); offset += step) {
    const double number = load_number(element, bytes.data() + offset);
    if (std::isfinite(number)) {
      use(number);
    }
  }
}

std::vector<std::uint64_t> count_bins(Element element,
                                      std::span<const std::byte> bytes,
                                      double minimum,
                                      double maximum) {
  std::vector<std::uint64_t> bins(minimum == maximum ? 1 : kBins);
  const double scale = minimum == maximum ? 0 : static_cast<double>(kBins) / (maximum - minimum);
  for_each_finite(element, bytes, [&](double number) {
    const auto bin = static_cast<std::size_t>((number - minimum) * scale);
    ++bins[std::min(bin, bins.size() - 1)];
  });
  return bins;
}

std::string first_numbers(const ValueType& type, std::span<const std::byte> bytes) {
  const std::size_t step = type.element_bytes();
  const std::size_t count = bytes.size() / step;
  std::string line;
  for (std::size_t i = 0; i < std::min(count, kShown); ++i) {
    line += (i == 0 ? "" : " ") + format_number(type.element, bytes.data() + i * step);
  }
  return count > kShown ? line + " ..." : line;
}

std::string histogram_lines(const Statistics& found) {
  const std::uint64_t most = *std::max_element(found.histogram.begin(), found.histogram.end());
  const double width =
      (found.maximum - found.minimum) / static_cast<double>(found.histogram.size());
  std::string lines;
  for (std::size_t bin = 0; bin < found.histogram.size(); ++bin) {
    const std::uint64_t count = found.histogram[bin];
    // A bin that is not empty shows at least one sign.
    const std::size_t bar = count == 0 ? 0 : std::max<std::size_t>(1, count * kBarWidth / most);
    lines +=
        fmt::format("  {:>11.5g}  {:>12}  {}\n", found.minimum + width * static_cast<double>(bin),
                    count, std::string(bar, '#'));
  }
  return lines;
}

}  // namespace

Statistics statistics(Element element, std::span<const std::byte> bytes) {
  Statistics found;
  found.count = bytes.size() / ValueType{element}.element_bytes();
  std::uint64_t finite = 0;
  double sum_of_squares = 0;
  // Welford's running mean and variance: no cancellation however large the mean.
  for_each_finite(element, bytes, [&](double number) {
    found.minimum = finite == 0 ? number : std::min(found.minimum, number);
    found.maximum = finite == 0 ? number : std::max(found.maximum, number);
    found.zero_count += number == 0 ? 1 : 0;
    ++finite;
    const double step = number - found.mean;
    found.mean += step / static_cast<double>(finite);
    sum_of_squares += step * (number - found.mean);
  });

  const std::size_t step = ValueType{element}.element_bytes();
  for (std::size_t i = 0; i < found.count && finite < found.count; ++i) {
    const double number = load_number(element, bytes.data() + i * step);
    found.nan_count += std::isnan(number) ? 1 : 0;
    found.infinite_count += std::isinf(number) ? 1 : 0;
  }
  if (finite > 0) {
    found.standard_deviation = std::sqrt(sum_of_squares / static_cast<double>(finite));
    found.histogram = count_bins(element, bytes, found.minimum, found.maximum);
  }
  return found;
}

std::string describe(const std::string& name,
                     const ValueType& type,
                     const std::vector<std::uint64_t>& shape,
                     std::span<const std::byte> bytes) {
  const Statistics found = statistics(type.element, bytes);
  std::string text = fmt::format("{}: {} x {}\n", name, format_shape(shape), type.name());
  text += fmt::format("  first  {}\n", first_numbers(type, bytes));
  text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}  std {:.6g}\n", found.minimum,
                      found.maximum, found.mean, found.standard_deviation);
  text += fmt::format("  zero {}  nan {}  inf {}\n", found.zero_count, found.nan_count,
                      found.infinite_count);
  if (found.histogram.empty()) {
    return text + "  no finite numbers\n";
  }
  return text + histogram_lines(found);
}

}  // namespace pewter::tools
