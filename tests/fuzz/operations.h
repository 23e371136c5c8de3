#pragma once

#include <span>

#include "tests/fuzz/type.h"

namespace pewter::fuzz {

/// A way to compute a value.
///
/// In `pattern`, '$' is an operand, "@T" the type, "@C" its component type, "@U" an unsigned type
/// in which sums wrap, "@M" the number of the component's highest bit. `kinds` has a letter for
/// each operand: t the type itself, c its component, b bool, m a vector of bool as long, u uint, i
/// any integer scalar, f any floating-point scalar, v a vector of the component type, x a vector of
/// some type as long that converts to any integer, r an int between 0 and 255; s any scalar, w any
/// vector and y any vector as long, each the same for all its operands.
struct Operation {
  const char* pattern;
  const char* kinds;
};

/// The operations whose result has this type.
std::span<const Operation> operations(const Type& type);

}  // namespace pewter::fuzz
