#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/ops.h>

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

// LLVM went round in circles for ever when it made one store of several in this kernel.
TEST_CASE("bools that go through many operations in one kernel") {
  constexpr std::size_t kOperands = 12;
  constexpr int kCount = 40;
  const auto operand = [](std::size_t number, int i) { return (i >> number % 5 & 1) != 0; };
  std::vector<array> x;
  for (std::size_t number = 0; number < kOperands; ++number) {
    const array elements = arange(kCount);
    x.push_back(right_shift(elements, array(static_cast<int>(number % 5))) % array(2) == array(1));
  }
  eval(x);
  const std::vector<array> parts = {logical_or(x[0], x[1]), maximum(x[2], x[3]),
                                    minimum(x[4], x[5]),    multiply(x[6], x[7]),
                                    not_equal(x[8], x[9]),  power(x[10], x[11])};
  array any = parts[0];
  for (const array& part : parts) {
    any = logical_or(any, part);
  }
  std::vector<array> all = parts;
  all.push_back(any);

  eval(all);

  for (int i = 0; i < kCount; ++i) {
    const auto at = [&](std::size_t number) { return operand(number, i); };
    const std::vector<bool> expected = {at(0) || at(1), at(2) || at(3), at(4) && at(5),
                                        at(6) && at(7), at(8) != at(9), at(10) || !at(11)};
    bool expected_any = false;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      CAPTURE(k);
      REQUIRE(parts[k].data<bool>()[i] == expected[k]);
      expected_any = expected_any || expected[k];
    }
    REQUIRE(any.data<bool>()[i] == expected_any);
  }
}

}  // namespace pewter::test
