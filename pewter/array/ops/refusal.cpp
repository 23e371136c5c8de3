#include "pewter/array/ops/refusal.h"

#include <fmt/core.h>

namespace pewter::ops {

std::invalid_argument refusal_of(std::string_view origin, const std::invalid_argument& refusal) {
  std::string_view reason = refusal.what();
  const std::size_t end = reason.starts_with('[') ? reason.find("] ") : std::string_view::npos;
  if (end != std::string_view::npos) {
    reason.remove_prefix(end + 2);
  }
  return std::invalid_argument(fmt::format("[{}] {}", origin, reason));
}

}  // namespace pewter::ops
