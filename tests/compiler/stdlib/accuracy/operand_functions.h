#pragma once

#include <span>

#include "tests/compiler/stdlib/accuracy/math_functions.h"

/// Operators and functions of two and three numbers, as math_functions.h has those of one.
namespace pewter::test {

struct Operands {
  double x;
  double y;
  double z;
};

struct OperandFunction {
  /// In x, y and z, values of one type.
  const char* expression;
  double (*reference)(const Operands& operands, const FloatFormat& format);
  /// Permitted error for float; for functions that the specification sets no bound for, what three
  /// rounded operations of numbers as large as the operands may add up to.
  double float_ulps;
  double half_ulps;
  /// Whether a zero may have either sign.
  bool has_either_zero = false;
  /// Whether there is a form for bfloat whose result is the nearest bfloat.
  bool has_bfloat = false;
  /// Where the function is defined; null when it is everywhere.
  bool (*is_defined)(const Operands& operands, const FloatFormat& format) = nullptr;
  /// The number whose unit errors are counted in; null for that of the result.
  double (*scale)(const Operands& operands) = nullptr;
};

std::span<const OperandFunction> operand_functions();

/// Whether `got` is right for `operands`, and the error in units of the last place.
struct OperandVerdict {
  bool is_right;
  double wanted;
  double error;
};
OperandVerdict judge(const OperandFunction& function,
                     const FloatFormat& format,
                     const Operands& operands,
                     double got);

}  // namespace pewter::test
