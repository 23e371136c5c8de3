#pragma once

#include <pewter/dtype.h>

namespace pewter::test {

/// Compares every row of the table of elementwise operations that takes `dtype` with its reference,
/// over all sizes. With `only_native` the rows alone that compute in the type itself, and operands
/// that lie one behind the other; otherwise strided and broadcast ones too, which takes minutes for
/// all types.
void check_elementwise(Dtype dtype, bool only_native);

}  // namespace pewter::test
