#include "tests/compiler/stdlib/accuracy/operand_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pewter::test {
namespace {

using Function = double (*)(double, double);

template <Function kFunction>
double binary(const Operands& o, const FloatFormat& /*format*/) {
  return kFunction(o.x, o.y);
}

// Double holds products of halves and bfloats and their sums with a third, or enough of them.
double fused(const Operands& o, const FloatFormat& format) {
  if (format.precision == kFloat.precision) {
    return std::fma(static_cast<float>(o.x), static_cast<float>(o.y), static_cast<float>(o.z));
  }
  return std::fma(o.x, o.y, o.z);
}

double largest(const Operands& o, const FloatFormat& /*format*/) {
  return std::fmax(o.x, std::fmax(o.y, o.z));
}

double least(const Operands& o, const FloatFormat& /*format*/) {
  return std::fmin(o.x, std::fmin(o.y, o.z));
}

double middle(const Operands& o, const FloatFormat& /*format*/) {
  return std::fmax(std::fmin(o.x, o.y), std::fmin(std::fmax(o.x, o.y), o.z));
}

double clamped(const Operands& o, const FloatFormat& /*format*/) {
  return std::fmin(std::fmax(o.x, o.y), o.z);
}

double mixed(const Operands& o, const FloatFormat& /*format*/) {
  return o.x + (o.y - o.x) * o.z;
}

double stepped(const Operands& o, const FloatFormat& /*format*/) {
  return o.y < o.x ? 0 : 1;
}

double smooth(const Operands& o, const FloatFormat& /*format*/) {
  const double t = std::fmin(std::fmax((o.z - o.x) / (o.y - o.x), 0), 1);
  return t * t * (3 - 2 * t);
}

// As int(y) is in MSL.
int whole(double y) {
  if (std::isnan(y)) {
    return 0;
  }
  return static_cast<int>(std::min(std::max(std::trunc(y), -0x1p31), 0x1p31 - 1));
}

double scaled(const Operands& o, const FloatFormat& /*format*/) {
  return std::ldexp(o.x, whole(o.y));
}

double next(const Operands& o, const FloatFormat& format) {
  if (std::isnan(o.x) || std::isnan(o.y)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (o.x == o.y) {
    return o.y;
  }
  if (o.x == 0) {
    return std::copysign(std::ldexp(1.0, format.least_exponent), o.y);
  }
  if (std::isinf(o.x)) {
    const double limit = std::ldexp(1.0, format.overflow_exponent);
    return std::copysign(limit - std::ldexp(limit, -format.precision), o.x);
  }
  const bool grows = (o.y > o.x) == (o.x > 0);
  // Below a power of two neighbours are closer.
  const double toward_zero = std::nextafter(o.x, 0.0);
  const double step = format.unit(grows ? o.x : toward_zero);
  const double result = grows ? o.x + std::copysign(step, o.x) : o.x - std::copysign(step, o.x);
  return result == 0 ? std::copysign(0.0, o.x) : format.rounded(result);
}

bool is_power_defined(const Operands& o, const FloatFormat& /*format*/) {
  const bool is_positive = o.x > 0 || (o.x == 0 && !std::signbit(o.x));
  return is_positive && !(o.x == 0 && o.y == 0);
}

bool is_range(const Operands& o, const FloatFormat& /*format*/) {
  return o.y <= o.z;
}

bool is_mix_defined(const Operands& o, const FloatFormat& format) {
  return o.z >= 0 && o.z <= 1 && std::isfinite(format.rounded(o.y - o.x)) && std::isfinite(o.x) &&
         std::isfinite(o.y);
}

// Edges so close that their difference loses bits make the quotient as uncertain as they are.
bool is_smoothstep_defined(const Operands& o, const FloatFormat& format) {
  return std::isfinite(o.x) && std::isfinite(o.y) && std::isfinite(o.z) && o.x < o.y &&
         std::isfinite(format.rounded(o.y - o.x)) && std::isfinite(format.rounded(o.z - o.x)) &&
         format.rounded(o.y - o.x) == o.y - o.x && format.rounded(o.z - o.x) == o.z - o.x &&
         format.unit(o.y - o.x) > std::ldexp(1.0, format.least_exponent);
}

double operand_size(const Operands& o) {
  return std::max(std::fabs(o.x), std::fabs(o.y));
}

double one(const Operands& /*o*/) {
  return 1;
}

constexpr double kRounded = kCorrectlyRounded;

// clang-format off
const OperandFunction kFunctions[] = {
    {"x + y", binary<[](double x, double y) { return x + y; }>, kRounded, kRounded, true, true},
    {"x - y", binary<[](double x, double y) { return x - y; }>, kRounded, kRounded, true, true},
    {"x * y", binary<[](double x, double y) { return x * y; }>, kRounded, kRounded, true, true},
    {"x / y", binary<[](double x, double y) { return x / y; }>, kRounded, kRounded, true, true},
    {"divide(x, y)", binary<[](double x, double y) { return x / y; }>, kRounded, kRounded},
    {"atan2(x, y)", binary<std::atan2>, 6, 1},
    {"copysign(x, y)", binary<std::copysign>, kExact, kExact, false, true},
    {"fdim(x, y)", binary<std::fdim>, kRounded, kRounded},
    {"fmax(x, y)", binary<std::fmax>, kExact, kExact, true, true},
    {"fmin(x, y)", binary<std::fmin>, kExact, kExact, true, true},
    {"max(x, y)", binary<std::fmax>, kExact, kExact, true, true},
    {"min(x, y)", binary<std::fmin>, kExact, kExact, true, true},
    {"fmod(x, y)", binary<std::fmod>, kExact, kExact, false, true},
    {"pow(x, y)", binary<std::pow>, 16, 1},
    {"powr(x, y)", binary<std::pow>, 16, 1, false, false, is_power_defined},
    {"nextafter(x, y)", next, kExact, kExact},
    {"ldexp(x, int(y))", scaled, kRounded, kRounded},
    {"fma(x, y, z)", fused, kRounded, kRounded, true},
    {"fmax3(x, y, z)", largest, kExact, kExact, true},
    {"max3(x, y, z)", largest, kExact, kExact, true},
    {"fmin3(x, y, z)", least, kExact, kExact, true},
    {"min3(x, y, z)", least, kExact, kExact, true},
    {"fmedian3(x, y, z)", middle, kExact, kExact, true},
    {"median3(x, y, z)", middle, kExact, kExact, true},
    {"clamp(x, y, z)", clamped, kExact, kExact, true, true, is_range},
    {"step(x, y)", stepped, kExact, kExact, false, true},
    {"mix(x, y, z)", mixed, 3, 3, true, false, is_mix_defined, operand_size},
    {"smoothstep(x, y, z)", smooth, 4, 4, true, false, is_smoothstep_defined, one},
};
// clang-format on

}  // namespace

std::span<const OperandFunction> operand_functions() {
  return kFunctions;
}

OperandVerdict judge(const OperandFunction& function,
                     const FloatFormat& format,
                     const Operands& operands,
                     double got) {
  const double wanted = function.reference(operands, format);
  OperandVerdict verdict{true, wanted, 0};
  if (function.is_defined != nullptr && !function.is_defined(operands, format)) {
    return verdict;
  }
  const bool is_half = format.precision == kHalf.precision;
  const double bound = is_half ? function.half_ulps : function.float_ulps;
  verdict.error = ulp_error(got, wanted, format);
  if (function.scale != nullptr) {
    verdict.error *= format.unit(wanted) / format.unit(function.scale(operands));
  }
  const bool is_close =
      bound == kRounded ? got == format.rounded(wanted) || (std::isnan(got) && std::isnan(wanted))
                        : verdict.error <= bound;
  const bool is_zero_right = got != 0 || verdict.error > 1 || function.has_either_zero ||
                             std::signbit(got) == std::signbit(wanted);
  verdict.is_right = is_close && is_zero_right;
  return verdict;
}

}  // namespace pewter::test
