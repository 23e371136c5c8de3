#pragma once

#include <span>
#include <string>

#include "tests/compiler/stdlib/accuracy/float_format.h"

/// The functions of one number that MSL has for floating-point types, each with the same function
/// in double and with what the specification's "ULPs and Relative Error" permits (MSL 4.0, tables
/// 8.1 to 8.5).
namespace pewter::test {

/// What a function of -x is to that of x.
enum class Symmetry { None, Odd, Even };

/// An error in units of the last place; these two are special.
inline constexpr double kExact = 0;
inline constexpr double kCorrectlyRounded = 0.5;

/// What table 8.2 permits with fast math.
struct FastBound {
  /// As a reader of the table sees it.
  const char* text;
  /// Permitted error in units of `unit` for an argument `x`, infinite where there is no bound.
  /// Null when the function is only described by a formula, or its bound is that of table 8.1.
  double (*ulps)(double x, double unit);
};

struct MathFunction {
  const char* name;
  /// In x, a value of the type.
  const char* expression;
  double (*reference)(double x);
  Symmetry symmetry;
  /// Permitted error for float, table 8.1.
  double float_ulps;
  FastBound fast;
  /// Permitted error for half, table 8.3.
  double half_ulps;
  /// The same as `reference` with more bits; for functions that have to be correctly rounded and
  /// whose results double does not hold.
  long double (*fine_reference)(long double x) = nullptr;
  /// Whether the result is an int.
  bool is_integer = false;
  /// Whether a result that would round to one is the largest number below it.
  bool stays_below_one = false;
  /// Whether a zero may have either sign.
  bool has_either_zero = false;
  /// Whether results that are no normal numbers may be anything down to zero.
  bool flushes_subnormals = false;

  /// Permitted error for results of the format; for bfloat, which the specification has no table of
  /// functions for, that of the float function rounded to bfloat.
  double ulps(const FloatFormat& format) const;
  double wanted(double x, const FloatFormat& format) const;
};

std::span<const MathFunction> math_functions();

/// The row of that name. Throws std::out_of_range when there is none.
const MathFunction& math_function(const std::string& name);

/// Whether metal::fast has a function of that name that is not the precise one.
bool has_fast_kind(const MathFunction& function);

/// Whether there is a form for the format: functions with a second result have none for bfloat, and
/// those that metal::fast has for itself are for float.
bool exists_for(const MathFunction& function, const FloatFormat& format);

/// MSL that the expressions need before the kernel.
std::string math_prologue();

/// The value of the function for `x` of type `T`, rounded to T and converted to float.
std::string result_expression(const MathFunction& function);

}  // namespace pewter::test
