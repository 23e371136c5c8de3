#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/program.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/scope.h"

namespace pewter::fuzz {

/// An expression from a pattern in which each '$' stands for the next operand.
Expression form(const Type& type, const std::string& pattern, std::vector<Expression> operands);

/// A literal of any type; for ranged ones the lowest value.
Expression literal_like(const Expression& expression);

/// Makes expressions that are defined whatever their operands are: divisors are not zero, shifts
/// and indices are in range, sums do not overflow, and conversions fit. Floating-point ones are
/// exact in the sense that every correct implementation gives the same bits, NaN payloads excepted.
class ExpressionGenerator {
 public:
  ExpressionGenerator(Random& random, Scope& scope) : random_(random), scope_(scope) {}

  /// `depth` limits the nesting. `uniform`: the same in all threads of a threadgroup.
  Expression value(const Type& type, unsigned depth, bool uniform = false);

  Expression condition(unsigned depth, bool uniform = false) {
    return value({Scalar::Bool, 1}, depth, uniform);
  }

  /// An index below `length`: affine in what the thread knows, or masked.
  Expression index(std::size_t length, bool uniform = false);

  /// An integer of type int or uint with known limits within 0 .. `high`.
  Expression small(std::int64_t high, bool uniform = false);

  Expression element(const Array& array, bool uniform = false);

  Expression literal(const Type& type);

 private:
  Expression leaf(const Type& type, bool uniform);
  Expression from_pattern(const Type& type,
                          const std::string& pattern,
                          const char* kinds,
                          unsigned depth,
                          bool uniform);
  Expression operand(char kind, const Type& type, unsigned depth, bool uniform);
  Expression affine(const Type& type, bool uniform);

  Random& random_;
  Scope& scope_;
  /// Indices within indices, which would nest without end.
  unsigned index_depth_ = 0;
};

}  // namespace pewter::fuzz
