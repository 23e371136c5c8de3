#include "tools/nearest_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace pewter::tools {
namespace {

constexpr std::size_t kMaxListed = 12;

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

// Edit distance, upper and lower case alike.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  // Further away than a third of its letters, a name is another word rather than a slip.
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t found = distance(name, candidate);
    if (found < best && found < std::max(name.size(), candidate.size())) {
      best = found;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) {
    return fmt::format("; did you mean '{}'?", nearest);
  }
  if (candidates.empty()) {
    return "";
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMaxListed); ++i) {
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", candidates[i]);
  }
  if (candidates.size() > kMaxListed) {
    list += fmt::format(" and {} more", candidates.size() - kMaxListed);
  }
  return fmt::format("; there {} {}", candidates.size() == 1 ? "is" : "are", list);
}

}  // namespace pewter::tools
