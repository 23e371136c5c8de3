#include "pewter/runtime/allocation_log.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/runtime/size_text.h"

namespace pewter::runtime {
namespace {

constexpr std::size_t kLargeLength = std::size_t{1} << 20;

void write(const std::string& line) {
  std::fputs(("pewter[memory]: " + line + "\n").c_str(), stderr);
}

}  // namespace

AllocationLog::AllocationLog() {
  const auto text = environment::text("PYTORCH_DEBUG_MPS_ALLOCATOR");
  if (text) {
    char* end = nullptr;
    bits_ = std::strtoull(text->c_str(), &end, 0);
    if (*end != '\0') {
      logging::warning("runtime", "PYTORCH_DEBUG_MPS_ALLOCATOR is '{}', not a number; ignored",
                       *text);
      bits_ = 0;
    }
  }
}

bool AllocationLog::wants(std::uint64_t bit, std::size_t length) const {
  return (bits_ & bit) != 0 && ((bits_ & kLarge) == 0 || length > kLargeLength);
}

void AllocationLog::allocated(std::size_t length,
                              std::size_t active,
                              std::size_t driver_total) const {
  if (wants(kAllocations, length)) {
    write(fmt::format("allocated {}", size_text(length)));
  }
  if (wants(kTotals, length)) {
    write(fmt::format("active {}, driver total {}", size_text(active), size_text(driver_total)));
  }
}

void AllocationLog::reused(std::size_t length, std::size_t size, std::size_t active) const {
  if (wants(kReuse, length)) {
    write(fmt::format("reused {} for a request of {}, active {}", size_text(length),
                      size_text(size), size_text(active)));
  }
}

void AllocationLog::released(std::size_t length, std::size_t cached) const {
  if (wants(kReleases, length)) {
    write(fmt::format("released {}, cached {}", size_text(length), size_text(cached)));
  }
}

}  // namespace pewter::runtime
