#pragma once

#include <pewter/errors.h>
#include <pewter/export.h>
#include <pewter/mps_event.h>
#include <pewter/mps_profiler.h>
#include <pewter/mps_random.h>
#include <pewter/mps_shader.h>
#include <pewter/mps_stream.h>

#include <cstdint>

/// The device as PyTorch's `torch.mps` shows it. Every function may be called from any thread.
///
/// In a process without a device (PEWTER_DEVICE=none), and in a child that was forked after its
/// parent had used the device, device_count(), is_available() and manual_seed() return normally and
/// everything else throws std::runtime_error.
namespace pewter::mps {

/// 1 with a device, 0 without.
PEWTER_EXPORT int device_count() noexcept;
PEWTER_EXPORT bool is_available() noexcept;
/// Whether this process was forked from one that had used the device.
PEWTER_EXPORT bool is_in_bad_fork() noexcept;

/// Returns when all submitted work is complete. Throws std::runtime_error for what failed since the
/// last time.
PEWTER_EXPORT void synchronize();

/// Bytes of the blocks that live arrays use.
PEWTER_EXPORT std::uint64_t current_allocated_memory();
/// Bytes of everything that the device has allocated for this process.
PEWTER_EXPORT std::uint64_t driver_allocated_memory();
PEWTER_EXPORT std::uint64_t recommended_max_memory();
/// Waits for submitted work, then gives every block that is not in use back to the system.
PEWTER_EXPORT void empty_cache();

/// Refuses allocations that would bring driver_allocated_memory() above `fraction` times
/// recommended_max_memory(); 0 is no limit. Throws std::invalid_argument outside 0 to 2.
PEWTER_EXPORT void set_per_process_memory_fraction(double fraction);
/// Only a double is a fraction: 1 is more likely a mistake.
template <typename T>
void set_per_process_memory_fraction(T fraction) = delete;

}  // namespace pewter::mps
