#pragma once

#include <pewter/dtype.h>

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

/// Numbers as NumPy writes them in arrays: all alike, with no more digits than tell them apart.
namespace pewter::text {

/// The fewest decimal digits that mean this number and no other of its type.
struct Digits {
  bool is_negative = false;
  /// At least one; the first is not 0 unless the number is.
  std::string digits;
  /// Of the first digit.
  int exponent = 0;
};

/// `dtype` says among which numbers it must be told apart: float16, bfloat16 or float32.
Digits shortest_digits(float number, Dtype dtype);

/// Without an exponent, at most `precision` digits after the point and no zeros at the end: "1.",
/// "0.25". Digits before the point beyond those that are needed are the number's own with
/// `has_exact_whole`, as in arrays, else zeros.
std::string positional(float number, Dtype dtype, int precision, bool has_exact_whole = true);
/// With one digit before the point: "1.5e+10". Zeros at the end are dropped unless
/// `fraction_digits` says how many digits there must be.
std::string scientific(float number, Dtype dtype, int precision, int fraction_digits = -1);
/// A number that stands alone: "1.0", "1e-05".
std::string lone_number(float number, Dtype dtype);
/// The same for a complex number: "(1+2j)", "2j".
std::string lone_complex(std::complex<float> number);

/// Writes the floating-point numbers of an array so that they have one width and their points are
/// under each other.
class FloatColumn {
 public:
  /// `numbers` are those that will be written. With `has_plus`, positive ones get a sign.
  FloatColumn(const std::vector<float>& numbers, Dtype dtype, int precision, bool has_plus = false);

  std::string operator()(float number) const;

 private:
  std::string signed_text(float number) const;

  Dtype dtype_;
  int precision_;
  bool has_plus_;
  bool is_scientific_ = false;
  std::size_t left_ = 0;
  std::size_t right_ = 0;
  int fraction_digits_ = 0;
};

}  // namespace pewter::text
