#include <fmt/core.h>
#include <pewter/mps.h>

#include <stdexcept>

#include "pewter/api/mps_device.h"
#include "pewter/runtime/allocator.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/stream.h"

namespace pewter::mps {

void require_device(const char* origin) {
  runtime::refuse_bad_fork(origin);
  if (!runtime::device_available()) {
    throw std::runtime_error(fmt::format(
        "{} there is no device; it may have been turned off with PEWTER_DEVICE=none", origin));
  }
  runtime::mark_device_used();
}

int device_count() noexcept {
  return is_available() ? 1 : 0;
}

bool is_available() noexcept {
  const bool available = runtime::device_available();
  if (available && !runtime::in_bad_fork()) {
    runtime::mark_device_used();
  }
  return available;
}

bool is_in_bad_fork() noexcept {
  return runtime::in_bad_fork();
}

void synchronize() {
  require_device("[mps::synchronize]");
  runtime::synchronize_all();
}

std::uint64_t current_allocated_memory() {
  require_device("[mps::current_allocated_memory]");
  return runtime::allocator().active();
}

std::uint64_t driver_allocated_memory() {
  require_device("[mps::driver_allocated_memory]");
  return runtime::allocator().driver_total();
}

std::uint64_t recommended_max_memory() {
  require_device("[mps::recommended_max_memory]");
  return runtime::device_info().recommended_working_set;
}

void empty_cache() {
  require_device("[mps::empty_cache]");
  runtime::allocator().empty_cache();
}

void set_per_process_memory_fraction(double fraction) {
  // The value is looked at first, device or not; NaN fails both comparisons.
  if (!(fraction >= 0 && fraction <= 2)) {
    throw std::invalid_argument(
        fmt::format("[mps::set_per_process_memory_fraction] {} is not from 0 to 2", fraction));
  }
  require_device("[mps::set_per_process_memory_fraction]");
  runtime::allocator().set_memory_fraction(fraction);
}

}  // namespace pewter::mps
