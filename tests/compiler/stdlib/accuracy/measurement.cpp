#include "tests/compiler/stdlib/accuracy/measurement.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace pewter::test {
namespace {

// Errors in float's units, infinite or NaN where infinities and NaN take part. Without branches,
// so that it runs on vector registers: almost all results of a sweep end here.
void estimate_errors(std::span<const float> got,
                     std::span<const double> wanted,
                     std::span<float> errors) {
  for (std::size_t index = 0; index < got.size(); ++index) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(wanted[index]);
    const std::uint64_t exponent = bits >> 52 & 0x7ff;
    // The unit of the least subnormal number serves all numbers below 2^-126.
    const std::uint64_t raised = exponent < 897 ? 897 : exponent;
    const double inverse = std::bit_cast<double>((2069 - raised) << 52);
    const double got_value = got[index];
    errors[index] = static_cast<float>(std::fabs(got_value - wanted[index]) * inverse);
  }
}

class Judge {
 public:
  Judge(const MathFunction& function, const FloatFormat& format)
      : function_(function),
        format_(format),
        bound_(function.ulps(format)),
        is_rounded_(bound_ == kCorrectlyRounded),
        has_fast_bound_(function.fast.ulps != nullptr && format.precision == kFloat.precision) {}

  /// An error that breaks no bound.
  double harmless_error() const {
    return is_rounded_ ? 0.4999 : has_fast_bound_ ? std::min(bound_, 1.0) : bound_;
  }

  void look_at(double argument, double got, double wanted, Measurement& result) const {
    const double least_normal = std::ldexp(1.0, format_.least_exponent + format_.precision - 1);
    if (function_.flushes_subnormals && std::fabs(wanted) < least_normal && got >= 0 &&
        got <= least_normal) {
      return;
    }
    const double error = ulp_error(got, wanted, format_);
    if (error > result.worst) {
      result.worst = error;
      result.worst_input = argument;
    }
    const bool beyond =
        is_rounded_ ? !is_nearest(argument, got, wanted) : error > bound_ || std::isinf(error);
    const bool beyond_fast = has_fast_bound_ && error > kCorrectlyRounded &&
                             error > function_.fast.ulps(argument, format_.unit(wanted));
    const bool wrong_zero = got == 0 && !function_.has_either_zero && error <= 1 &&
                            std::signbit(got) != std::signbit(wanted);
    if (beyond || beyond_fast || wrong_zero) {
      if (result.is_right_so_far()) {
        result.wrong_input = argument;
      }
      result.beyond_bound += static_cast<std::uint64_t>(beyond);
      result.beyond_fast_bound += static_cast<std::uint64_t>(beyond_fast);
      result.wrong_zeros += static_cast<std::uint64_t>(wrong_zero);
    }
  }

 private:
  bool is_nearest(double argument, double got, double wanted) const {
    if (std::isnan(wanted)) {
      return std::isnan(got);
    }
    const bool is_fine = function_.fine_reference != nullptr && std::isfinite(wanted);
    return got == format_.rounded(is_fine ? function_.fine_reference(argument)
                                          : static_cast<long double>(wanted));
  }

  const MathFunction& function_;
  const FloatFormat& format_;
  double bound_;
  bool is_rounded_;
  bool has_fast_bound_;
};

}  // namespace

std::string Measurement::text() const {
  return fmt::format(
      "{} inputs: error {} ulp at {:a}; {} beyond the bound, {} beyond that of fast math, {} zeros "
      "of the wrong sign, the first at {:a}",
      inputs, worst, worst_input, beyond_bound, beyond_fast_bound, wrong_zeros, wrong_input);
}

void Measurement::add(const Measurement& other) {
  inputs += other.inputs;
  if (other.worst > worst) {
    worst = other.worst;
    worst_input = other.worst_input;
  }
  if (is_right_so_far() && !other.is_right_so_far()) {
    wrong_input = other.wrong_input;
  }
  beyond_bound += other.beyond_bound;
  beyond_fast_bound += other.beyond_fast_bound;
  wrong_zeros += other.wrong_zeros;
}

Measurement measure(const MathFunction& function,
                    const FloatFormat& format,
                    std::span<const double> arguments,
                    std::span<const float> got,
                    std::span<const double> wanted) {
  Measurement result;
  result.inputs = got.size();
  const Judge judge(function, format);
  const bool is_estimated = format.precision == kFloat.precision;
  std::vector<float> errors(is_estimated ? got.size() : 0);
  if (is_estimated) {
    estimate_errors(got, wanted, errors);
  }
  const double harmless = judge.harmless_error();
  for (std::size_t index = 0; index < got.size(); ++index) {
    // Written so that an error that is NaN is looked at.
    if (is_estimated && got[index] != 0 && errors[index] <= harmless &&
        errors[index] <= result.worst) {
      continue;
    }
    judge.look_at(arguments[index], got[index], wanted[index], result);
  }
  return result;
}

}  // namespace pewter::test
