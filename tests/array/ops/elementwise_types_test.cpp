#include <doctest/doctest.h>

#include "tests/array/ops/elementwise_check.h"

// Every elementwise operation with every form of operands. A type is a test of its own, because it
// takes minutes.

namespace pewter::test {

#define PEWTER_CHECK_TYPE(type)                   \
  TEST_CASE("elementwise operations of " #type) { \
    check_elementwise(Dtype::type, false);        \
  }

PEWTER_CHECK_TYPE(Bool)
PEWTER_CHECK_TYPE(UInt8)
PEWTER_CHECK_TYPE(UInt16)
PEWTER_CHECK_TYPE(UInt32)
PEWTER_CHECK_TYPE(UInt64)
PEWTER_CHECK_TYPE(Int8)
PEWTER_CHECK_TYPE(Int16)
PEWTER_CHECK_TYPE(Int32)
PEWTER_CHECK_TYPE(Int64)
PEWTER_CHECK_TYPE(Float16)
PEWTER_CHECK_TYPE(BFloat16)
PEWTER_CHECK_TYPE(Float32)
PEWTER_CHECK_TYPE(Complex64)

}  // namespace pewter::test
