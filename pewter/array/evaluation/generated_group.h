#pragma once

#include <chrono>
#include <cstdint>

#include "pewter/array/evaluation/groups.h"
#include "pewter/array/fusion/kernel_cache.h"
#include "pewter/runtime/stream.h"

namespace pewter::evaluation {

/// Waiting longer than this, a kernel has been compiled: it did not come from the disk.
inline constexpr std::chrono::milliseconds kLongWait(5);

/// Whether a kernel that has not been made is waited for.
enum class Unmade : std::uint8_t { Wait, Refuse };

/// Computes a group with one generated kernel. Gives memory to the members whose elements are
/// wanted; they become available once the caller says so. May throw what compiling and allocating
/// throw; then no member has changed. False, with nothing done, when the kernel is refused.
bool encode_generated(Tape& tape, const Group& group, runtime::Stream& stream, Unmade unmade);

/// Whether a kernel for a group has been made: its own, or the general one.
bool has_kernel(Tape& tape, const Group& group);

/// Has the general kernel of a group made in the background, or its own if there is no general one.
void request_kernel(Tape& tape, const Group& group);

}  // namespace pewter::evaluation
