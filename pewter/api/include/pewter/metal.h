#pragma once

#include <pewter/export.h>
#include <pewter/memory.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <variant>

/// The device, and its memory under the names that MLX's programs use.
namespace pewter::metal {

/// Whether there is a device: the same answer for the life of the process. Never throws.
PEWTER_EXPORT bool is_available();

using DeviceInfo = std::unordered_map<std::string, std::variant<std::string, std::size_t>>;

/// `device_name`, `architecture`, `max_buffer_length` (also `max_buffer_size`),
/// `max_recommended_working_set_size`, `memory_size`, `resource_limit`. Throws std::runtime_error
/// when there is no device.
PEWTER_EXPORT const DeviceInfo& device_info();

/// Records the device's work into a trace document at `path`. Throws std::runtime_error with the
/// reason when that cannot be; does nothing when there is no device.
PEWTER_EXPORT void start_capture(const std::string& path = "");
/// Ends the recording; does nothing when there is none.
PEWTER_EXPORT void stop_capture();

// The same functions as those of pewter, under a second name.
using pewter::clear_cache;
using pewter::get_active_memory;
using pewter::get_cache_memory;
using pewter::get_memory_limit;
using pewter::get_peak_memory;
using pewter::reset_peak_memory;
using pewter::set_cache_limit;
using pewter::set_memory_limit;
using pewter::set_wired_limit;

}  // namespace pewter::metal
