#include <doctest/doctest.h>

#include "pewter/array/ops/elementwise.h"
#include "tests/array/ops/elementwise_check.h"
#include "tests/array/ops/elementwise_reference.h"

namespace pewter::test {

TEST_CASE("every row of the table has a reference") {
  for (const ops::Elementwise& row : ops::elementwise_table()) {
    const bool has_own_test = row.rule == ops::Rule::Conversion || row.rule == ops::Rule::Choice;
    CHECK_MESSAGE((has_own_test || elementwise_reference(row.name) != nullptr), row.name);
  }
}

TEST_CASE("every elementwise operation of float32 and int32 agrees with a loop in double") {
  check_elementwise(Dtype::Float32, true);
  check_elementwise(Dtype::Int32, true);
}

}  // namespace pewter::test
