#pragma once

#include <pewter/array.h>

#include <cstddef>
#include <cstdint>

namespace pewter::ops {

enum class ReductionKind : std::uint8_t { Sum, Prod, Min, Max, And, Or };

/// A reduction of neighbouring axes.
struct Reduction {
  ReductionKind kind = ReductionKind::Sum;
  /// The type in which elements are combined.
  Dtype accumulator = Dtype::Float32;
  /// The input's axes from `first` up to but not `last` are reduced.
  std::size_t first = 0;
  std::size_t last = 0;
};

const char* name_of(ReductionKind kind);

}  // namespace pewter::ops
