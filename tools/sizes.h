#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How sizes are written on the command line: 256, 4K, 1M, 2G (binary), and 640x480 for several
/// dimensions.
namespace pewter::tools {

/// A whole number with an optional K, M or G. `what` names it in the UsageError for anything else.
std::uint64_t parse_count(std::string_view text, std::string_view what);

/// One to `max_dimensions` counts joined by `x`, each at least 1; their product fits 64 bits.
std::vector<std::uint64_t> parse_shape(std::string_view text,
                                       std::string_view what,
                                       std::size_t max_dimensions);

/// The product of all dimensions; 1 for none.
std::uint64_t element_count(const std::vector<std::uint64_t>& shape);

/// `a * b`; throws UsageError when it does not fit 64 bits.
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view what);

/// For people: "4 KiB", "1.5 MiB".
std::string format_bytes(std::uint64_t bytes);

/// For people: "640 x 480".
std::string format_shape(const std::vector<std::uint64_t>& shape);

}  // namespace pewter::tools
