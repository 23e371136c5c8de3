#pragma once

#include "pewter/array/evaluation/groups.h"
#include "pewter/runtime/stream.h"

namespace pewter::evaluation {

/// Computes a group with one generated kernel. Gives memory to the members whose elements are
/// wanted; they become available once the caller says so. May throw what compiling and allocating
/// throw; then no member has changed.
void encode_generated(Tape& tape, const Group& group, runtime::Stream& stream);

}  // namespace pewter::evaluation
