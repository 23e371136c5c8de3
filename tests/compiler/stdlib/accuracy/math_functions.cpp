#include "tests/compiler/stdlib/accuracy/math_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace pewter::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// x less whole turns, or half turns. All steps are exact for numbers that a float holds.
double part_of_turns(double x) {
  return x - 2 * std::nearbyint(x / 2);
}

double part_of_half_turns(double x) {
  return x - std::nearbyint(x);
}

double sinpi(double x) {
  const double turn = part_of_turns(x);
  return turn == 0 || std::fabs(turn) == 1 ? std::copysign(0.0, x) : std::sin(M_PI * turn);
}

double cospi(double x) {
  const double turn = std::fabs(part_of_turns(x));
  return std::sin(M_PI * (0.5 - turn));
}

double tanpi(double x) {
  const double part = part_of_half_turns(x);
  if (part == 0) {
    return std::copysign(0.0, x);
  }
  if (std::fabs(part) == 0.5) {
    return std::copysign(kInfinity, part);
  }
  return std::sin(M_PI * part) / std::sin(M_PI * (0.5 - std::fabs(part)));
}

double exp10_of(double x) {
  return std::pow(10.0, x);
}

double exponent_of(double x) {
  return x == 0 ? -0x1p31 : std::isfinite(x) ? std::ilogb(x) : 0x1p31;
}

double fraction_of(double x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}

double binary_exponent_of(double x) {
  int exponent = 0;
  if (std::isfinite(x)) {
    std::frexp(x, &exponent);
  }
  return exponent;
}

double part_of(double x) {
  double whole = 0;
  return std::modf(x, &whole);
}

double sign_of(double x) {
  return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? x : 0.0;
}

double saturated(double x) {
  return std::isnan(x) ? 0.0 : std::min(std::max(x, 0.0), 1.0);
}

// Fast math, table 8.2.
template <int kUlps>
double constant(double /*x*/, double /*unit*/) {
  return kUlps;
}

double around_zero(double x, double unit) {
  return std::fabs(x) <= M_PI ? 0x1p-13 / unit : kInfinity;
}

double around_zero_turns(double x, double unit) {
  return std::fabs(x) <= 1 ? 0x1p-13 / unit : kInfinity;
}

double growing(double x, double /*unit*/) {
  return 3 + std::floor(std::fabs(2 * x));
}

// exp10(x) is described as exp2(x * log2(10)).
double growing_of_ten(double x, double unit) {
  return growing(x * std::log2(10.0), unit);
}

double logarithm(double x, double unit, double ulps, double absolute) {
  if (!(x > 0)) {
    return kInfinity;
  }
  return x >= 0.5 && x <= 2 ? absolute / unit : ulps;
}

double natural_logarithm(double x, double unit) {
  return logarithm(x, unit, 3, 0x1p-21);
}

double binary_logarithm(double x, double unit) {
  return logarithm(x, unit, 2, 0x1p-22);
}

double inside_one(double x, double /*unit*/) {
  return std::fabs(x) <= 1 ? 5 : kInfinity;
}

double inside_one_normal(double x, double /*unit*/) {
  return std::fabs(x) <= 1 && std::fabs(x) >= 0x1p-125 ? 5 : kInfinity;
}

double reciprocal_domain(double x, double /*unit*/) {
  return std::fabs(x) >= 0x1p-126 && std::fabs(x) <= 0x1p126 ? 1 : kInfinity;
}

constexpr FastBound kSame = {"the same", nullptr};
constexpr FastBound kOwn = {"a row of its own", nullptr};
constexpr FastBound kNotListed = {"not listed", nullptr};
constexpr FastBound kAroundZero = {"2^-13 absolute in [-pi, pi]", around_zero};
constexpr FastBound kAroundZeroTurns = {"2^-13 absolute in [-1, 1]", around_zero_turns};
constexpr FastBound kGrowing = {"3 + floor(abs(2 * x))", growing};

constexpr Symmetry kNone = Symmetry::None;
constexpr Symmetry kOdd = Symmetry::Odd;
constexpr Symmetry kEven = Symmetry::Even;
constexpr double kRounded = kCorrectlyRounded;

// clang-format off
const MathFunction kFunctions[] = {
    // Name, expression, reference, symmetry, bound for float, with fast math, bound for half.
    {"1.0 / x", "T(1) / x", [](double x) { return 1 / x; }, kOdd, kRounded,
     {"1 for abs(x) in [2^-126, 2^126]", reciprocal_domain}, kRounded, [](long double x) { return 1 / x; }},
    {"acos", "acos(x)", std::acos, kNone, 4, {"5 in [-1, 1]", inside_one}, 1},
    {"acosh", "acosh(x)", std::acosh, kNone, 4, {"as log(x + sqrt(x * x - 1))", nullptr}, 1},
    {"asin", "asin(x)", std::asin, kOdd, 4, {"5 in [-1, 1], abs(x) >= 2^-125", inside_one_normal}, 1},
    {"asinh", "asinh(x)", std::asinh, kOdd, 4, {"as log(x + sqrt(x * x + 1))", nullptr}, 1},
    {"atan", "atan(x)", std::atan, kOdd, 5, {"5", constant<5>}, 1},
    {"atanh", "atanh(x)", std::atanh, kOdd, 5, {"as a formula of log", nullptr}, 1},
    {"ceil", "ceil(x)", std::ceil, kNone, kRounded, kSame, kRounded},
    {"cos", "cos(x)", std::cos, kEven, 4, kAroundZero, 1},
    {"cosh", "cosh(x)", std::cosh, kEven, 4, {"as 0.5 * (exp(x) + exp(-x))", nullptr}, 1},
    {"cospi", "cospi(x)", cospi, kEven, 4, kAroundZeroTurns, 1},
    {"exp", "exp(x)", std::exp, kNone, 4, kOwn, 1},
    {"exp10", "exp10(x)", exp10_of, kNone, 4, kOwn, 1},
    {"exp2", "exp2(x)", std::exp2, kNone, 4, kOwn, 1},
    {"fabs", "fabs(x)", std::fabs, kEven, kExact, kSame, kExact},
    {"floor", "floor(x)", std::floor, kNone, kRounded, kSame, kRounded},
    {.name = "fract", .expression = "fract(x)", .reference = [](double x) { return x - std::floor(x); },
     .symmetry = kNone, .float_ulps = kRounded, .fast = kSame, .half_ulps = kRounded, .stays_below_one = true},
    {"frexp, fraction", "frexp_fraction(x)", fraction_of, kOdd, kExact, kSame, kExact},
    {.name = "frexp, exponent", .expression = "frexp_exponent(x)", .reference = binary_exponent_of,
     .symmetry = kEven, .float_ulps = kExact, .fast = kSame, .half_ulps = kExact, .is_integer = true},
    {.name = "ilogb", .expression = "ilogb(x)", .reference = exponent_of,
     .symmetry = kEven, .float_ulps = kExact, .fast = kSame, .half_ulps = kExact, .is_integer = true},
    {"log", "log(x)", std::log, kNone, 4, {"2^-21 absolute in [0.5, 2], else 3", natural_logarithm}, 1},
    {"log10", "log10(x)", std::log10, kNone, 4, {"as log2(x) * log10(2)", nullptr}, 1},
    {"log2", "log2(x)", std::log2, kNone, 4, {"2^-22 absolute in [0.5, 2], else 2", binary_logarithm}, 1},
    {"modf, fraction", "modf_fraction(x)", part_of, kOdd, kExact, kSame, kExact},
    {"modf, whole", "modf_whole(x)", std::trunc, kOdd, kExact, kSame, kExact},
    {"rint", "rint(x)", std::rint, kOdd, kRounded, kSame, kRounded},
    {"round", "round(x)", std::round, kOdd, kRounded, kSame, kRounded},
    {"rsqrt", "rsqrt(x)", [](double x) { return 1 / std::sqrt(x); }, kNone, kRounded, kOwn,
     kRounded, [](long double x) { return 1 / std::sqrt(x); }},
    {.name = "saturate", .expression = "saturate(x)", .reference = saturated, .symmetry = kNone,
     .float_ulps = kExact, .fast = kNotListed, .half_ulps = kExact, .has_either_zero = true},
    {"sign", "sign(x)", sign_of, kNone, kExact, kNotListed, kExact},
    {"sin", "sin(x)", std::sin, kOdd, 4, kAroundZero, 1},
    {"sincos, sine", "sincos_sine(x)", std::sin, kOdd, 4, kAroundZero, 1},
    {"sincos, cosine", "sincos_cosine(x)", std::cos, kEven, 4, kAroundZero, 1},
    {"sinh", "sinh(x)", std::sinh, kOdd, 4, {"as 0.5 * (exp(x) - exp(-x))", nullptr}, 1},
    {"sinpi", "sinpi(x)", sinpi, kOdd, 4, kAroundZeroTurns, 1},
    {"sqrt", "sqrt(x)", std::sqrt, kNone, kRounded, {"as x * rsqrt(x)", nullptr}, kRounded,
     [](long double x) { return std::sqrt(x); }},
    {"tan", "tan(x)", std::tan, kOdd, 6, {"as sin(x) * (1 / cos(x))", nullptr}, 1},
    {"tanh", "tanh(x)", std::tanh, kOdd, 5, {"as (t - 1) / (t + 1), t = exp(2 * x)", nullptr}, 1},
    {"tanpi", "tanpi(x)", tanpi, kOdd, 6, {"as tan(x * pi)", nullptr}, 1},
    {.name = "fast::exp", .expression = "fast::exp(x)", .reference = std::exp, .symmetry = kNone,
     .float_ulps = kInfinity, .fast = kGrowing, .half_ulps = 1, .flushes_subnormals = true},
    {.name = "fast::exp10", .expression = "fast::exp10(x)", .reference = exp10_of, .symmetry = kNone,
     .float_ulps = kInfinity, .fast = {"as exp2(x * log2(10))", growing_of_ten}, .half_ulps = 1,
     .flushes_subnormals = true},
    {.name = "fast::exp2", .expression = "fast::exp2(x)", .reference = std::exp2, .symmetry = kNone,
     .float_ulps = kInfinity, .fast = kGrowing, .half_ulps = 1, .flushes_subnormals = true},
    {.name = "fast::rsqrt", .expression = "fast::rsqrt(x)", .reference = [](double x) { return 1 / std::sqrt(x); },
     .symmetry = kNone, .float_ulps = kInfinity, .fast = {"2", constant<2>}, .half_ulps = kRounded},
    {"trunc", "trunc(x)", std::trunc, kOdd, kRounded, kSame, kRounded},
};
// clang-format on

}  // namespace

double MathFunction::ulps(const FloatFormat& format) const {
  const double bound = format.precision == kHalf.precision ? half_ulps : float_ulps;
  if (format.precision != kBfloat.precision || bound <= kCorrectlyRounded) {
    return bound;
  }
  return kCorrectlyRounded + bound * std::ldexp(1.0, kBfloat.precision - kFloat.precision);
}

double MathFunction::wanted(double x, const FloatFormat& format) const {
  const double value = reference(x);
  // A function takes a bfloat as a float.
  const double highest =
      format.precision == kHalf.precision ? format.below_one() : kFloat.below_one();
  return stays_below_one && value > highest ? highest : value;
}

std::span<const MathFunction> math_functions() {
  return kFunctions;
}

const MathFunction& math_function(const std::string& name) {
  for (const MathFunction& function : kFunctions) {
    if (function.name == name) {
      return function;
    }
  }
  throw std::out_of_range("no function " + name);
}

bool has_fast_kind(const MathFunction& function) {
  const std::string name = "fast::" + std::string(function.name);
  return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](const MathFunction& other) { return other.name == name; });
}

bool exists_for(const MathFunction& function, const FloatFormat& format) {
  const std::string expression = function.expression;
  if (expression.find("::") != std::string::npos) {
    return format.precision == kFloat.precision;
  }
  return format.precision != kBfloat.precision || expression.find('_') == std::string::npos;
}

std::string math_prologue() {
  return "#include <metal_stdlib>\nusing namespace metal;\n"
         "template <typename T> T frexp_fraction(T x) { int e; return frexp(x, e); }\n"
         "template <typename T> int frexp_exponent(T x) { int e; frexp(x, e); return e; }\n"
         "template <typename T> T modf_fraction(T x) { T whole; return modf(x, whole); }\n"
         "template <typename T> T modf_whole(T x) { T whole; modf(x, whole); return whole; }\n"
         "template <typename T> T sincos_sine(T x) { T c; return sincos(x, c); }\n"
         "template <typename T> T sincos_cosine(T x) { T c; sincos(x, c); return c; }\n";
}

std::string result_expression(const MathFunction& function) {
  const std::string value = function.expression;
  return function.is_integer ? "float(" + value + ")" : "float(T(" + value + "))";
}

}  // namespace pewter::test
