#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/value_type.h"

namespace pewter::tools {

/// What `--show` says about the numbers of a buffer. NaN and infinities are counted and otherwise
/// left out.
struct Statistics {
  std::uint64_t count = 0;
  std::uint64_t nan_count = 0;
  std::uint64_t infinite_count = 0;
  std::uint64_t zero_count = 0;
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double standard_deviation = 0;
  /// Finite numbers in equal parts of minimum..maximum; one part when they are all the same, none
  /// without numbers.
  std::vector<std::uint64_t> histogram;
};

Statistics statistics(Element element, std::span<const std::byte> bytes);

/// Several lines: type and shape, the first numbers, statistics and a histogram of `#` signs.
std::string describe(const std::string& name,
                     const ValueType& type,
                     const std::vector<std::uint64_t>& shape,
                     std::span<const std::byte> bytes);

}  // namespace pewter::tools
