#pragma once

#include <pewter/array.h>

#include <span>

namespace pewter::evaluation {

/// How operations become kernels.
enum class Fusion {
  /// Neighbours are computed together.
  On,
  /// Each operation by a kernel of its own.
  Off,
};

/// Schedules what the arrays need and submits it. On return, or when it throws what an operation
/// threw, everything that came before is on its way.
///
/// Safe to use from any thread; scheduling happens in one at a time.
void schedule(std::span<const array> arrays, Fusion fusion = Fusion::On);

/// Gives a node memory, scheduling its computation if that has not happened. Throws what the device
/// is known to have failed with, as wait() does.
void ensure_available(const array& a);

/// Waits until the array's memory holds its elements. Throws, each time, what the device failed
/// with when it computed the array or something that it depends on.
void wait(const array& a);

}  // namespace pewter::evaluation
