#include "pewter/runtime/size_text.h"

#include <fmt/format.h>

namespace pewter::runtime {

std::string size_text(std::size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024) {
    return fmt::format("{:.2f} bytes", value);
  }
  if (bytes < std::size_t{1} << 20) {
    return fmt::format("{:.2f} KiB", value / 1024);
  }
  if (bytes < std::size_t{1} << 30) {
    return fmt::format("{:.2f} MiB", value / (1024.0 * 1024));
  }
  return fmt::format("{:.2f} GiB", value / (1024.0 * 1024 * 1024));
}

}  // namespace pewter::runtime
