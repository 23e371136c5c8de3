#include "pewter/runtime/watermarks.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "pewter/base/environment.h"

namespace pewter::runtime {
namespace {

constexpr const char* kHighName = "PYTORCH_MPS_HIGH_WATERMARK_RATIO";
constexpr const char* kLowName = "PYTORCH_MPS_LOW_WATERMARK_RATIO";
constexpr double kMaxRatio = 2.0;

/// Sets `ratio` from a variable's text; false when the text is no number.
bool read_ratio(const std::optional<std::string>& text, double& ratio) {
  if (!text) {
    return true;
  }
  char* end = nullptr;
  ratio = std::strtod(text->c_str(), &end);
  return end != text->c_str() && *end == '\0';
}

}  // namespace

Watermarks read_watermarks(bool unified_memory) {
  Watermarks marks;
  marks.low = unified_memory ? 1.4 : 1.0;
  const auto high = environment::text("PYTORCH_MPS_HIGH_WATERMARK_RATIO");
  const auto low = environment::text("PYTORCH_MPS_LOW_WATERMARK_RATIO");

  // Comparisons are written so that NaN fails them.
  if (!read_ratio(high, marks.high) || !(marks.high >= 0 && marks.high <= kMaxRatio)) {
    marks.fault = fmt::format("[mps] invalid high watermark ratio {}: {} takes 0 to {}",
                              high.value_or(""), kHighName, kMaxRatio);
    return marks;
  }
  const double most = marks.high > 0 ? marks.high : kMaxRatio;
  if (!read_ratio(low, marks.low) || !(marks.low >= 0 && marks.low <= most)) {
    marks.fault = fmt::format("[mps] invalid low watermark ratio {}: {} takes 0 to {}",
                              low.value_or(fmt::format("{}", marks.low)), kLowName, most);
    if (high) {
      marks.fault += fmt::format(", because {} is {}", kHighName, *high);
    }
  }
  return marks;
}

}  // namespace pewter::runtime
