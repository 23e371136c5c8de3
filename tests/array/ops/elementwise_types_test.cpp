#include <doctest/doctest.h>

#include "tests/array/ops/elementwise_check.h"
#include "tests/array/reference.h"

namespace pewter::test {

TEST_CASE("every elementwise operation of every type and form of operands") {
  for (const Dtype dtype : every_dtype()) {
    check_elementwise(dtype, false);
  }
}

}  // namespace pewter::test
