#pragma once

#include <complex>

/// What elementwise operations are compared with: plain functions of doubles, one row for each row
/// of <pewter/elementwise.def>.
namespace pewter::test {

using Complex = std::complex<double>;

struct ElementwiseReference {
  const char* name;
  /// The second operand is ignored by operations of one.
  double (*real)(double, double);
  /// Null where complex numbers are refused.
  Complex (*complex)(Complex, Complex);
  /// The operands' range. Whole numbers are those from floor(low) up to high.
  double low;
  double high;
  /// Allowed distance from the exact result in units in the last place of float32. Types of 16 bits
  /// may be off by half a unit of their own besides.
  double ulps;
};

/// Null when there is no row of that name.
const ElementwiseReference* elementwise_reference(const char* name);

}  // namespace pewter::test
